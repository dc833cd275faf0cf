const RETRY_INTERVAL_MS = 250;
const GIVE_UP_AFTER_MS = 20_000;

/** Registers the agents with the runtime through the gateway, like any deployment. */
export async function registerAgents(
  gatewayUrl: string,
  apiKey: string,
  uri: string,
): Promise<void> {
  const giveUpAtMs = Date.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    const refusal = await tryToRegister(gatewayUrl, apiKey, uri);
    if (refusal === undefined) return;
    if (Date.now() > giveUpAtMs) throw new Error(`The agents cannot be registered: ${refusal}`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
  }
}

async function tryToRegister(
  gatewayUrl: string,
  apiKey: string,
  uri: string,
): Promise<string | undefined> {
  try {
    const response = await fetch(`${gatewayUrl}/registry/deployments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      // The agents' code may have changed since the last start, at the same address.
      body: JSON.stringify({ uri, force: true }),
    });
    const body = await response.text();
    return response.ok ? undefined : `${response.status} ${body}`;
  } catch (error) {
    return String(error);
  }
}
