const RETRY_INTERVAL_MS = 250;
const GIVE_UP_AFTER_MS = 60_000;

/**
 * Registers the agents with the runtime through the gateway, like any deployment. One that `isOwn` is moved to this
 * address instead: the runtime then continues there what it has begun, which a second deployment would leave behind.
 */
export async function registerAgents(
  gatewayUrl: string,
  apiKey: string,
  uri: string,
  isOwn: (uri: string) => boolean = () => false,
): Promise<void> {
  const ask = (method: string, path: string, body?: unknown) =>
    askRegistry(`${gatewayUrl}/registry${path}`, apiKey, method, body);
  const giveUpAtMs = Date.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      await registerOrMove(ask, uri, isOwn);
      return;
    } catch (error) {
      const refusal = error instanceof Error ? error.message : String(error);
      if (Date.now() > giveUpAtMs) throw new Error(`The agents cannot be registered: ${refusal}`);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
  }
}

type Ask = (method: string, path: string, body?: unknown) => Promise<unknown>;

async function registerOrMove(
  ask: Ask,
  uri: string,
  isOwn: (uri: string) => boolean,
): Promise<void> {
  const { deployments } = (await ask('GET', '/deployments')) as {
    deployments: { id: string; uri?: string }[];
  };
  const own = deployments.find((deployment) => isOwn(deployment.uri ?? ''));
  // The agents' code may have changed since the last start, at the same address.
  if (own) await ask('PATCH', `/deployments/${own.id}`, { uri, overwrite: true });
  else await ask('POST', '/deployments', { uri, force: true });
}

async function askRegistry(
  url: string,
  apiKey: string,
  method: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}
