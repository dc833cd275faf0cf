import { AgentGateway, APIError, type MintedToken } from '../../../packages/client/src/index.ts';

/** The console's facts about itself. */
export interface Settings {
  gatewayUrl: string;
  tenant: string;
  /** Otherwise the console has no secret to sign tokens with, and forwards the page's reads with its API key. */
  readsWithTokens: boolean;
}

/** One attempt, for what an open page asks again within seconds. */
export const ONCE = { retryForMs: 0, timeoutMs: 8_000 };

/** The gateway behind the console, which adds the API key: commands, deployments, invocations. */
export const commandGateway = new AgentGateway({ url: location.origin });

/**
 * The gateway, read with tokens for one prefix. The page holds nothing but a token: the console mints it, and the
 * library renews it before it expires.
 */
export function readGateway(settings: Settings, prefix: string): AgentGateway {
  const { gatewayUrl, tenant, readsWithTokens } = settings;
  if (!readsWithTokens) return new AgentGateway({ url: location.origin, tenant });
  return new AgentGateway({ url: gatewayUrl, tenant, authCallback: () => mint(prefix) });
}

export function streamPrefix(
  { tenant }: Settings,
  { type, id }: { type: string; id: string },
): string {
  return `/streams/t/${tenant}/agents/${type}/${id}`;
}

/** The console's facts about itself. Rejects if the console does not answer. */
export async function readSettings(): Promise<Settings> {
  const answer = await fetch('/settings.json');
  if (!answer.ok) throw new Error(`The console answers ${answer.status}.`);
  return (await answer.json()) as Settings;
}

async function mint(prefix: string): Promise<MintedToken> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prefix }),
  };
  // Browsers have different messages for an unavailable server.
  const answer = await fetch('/token', init).catch((cause: unknown) => {
    throw new Error('the console does not answer', { cause });
  });
  const body = (await answer.json().catch(() => ({}))) as MintedToken & { detail?: string };
  if (!answer.ok) throw new Error(body.detail ?? `the token service answers ${answer.status}`);
  return body;
}

/** Why a call failed, as a sentence. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof APIError)) return String((error as Error).message ?? error);
  return isConsoleDown(error) ? 'The console does not answer.' : error.detail;
}

/** Whether a call of `commandGateway` got no answer, even from the console. */
export function isConsoleDown({ status, code }: APIError): boolean {
  return status === undefined && code === 'connection_failed';
}
