import { AgentGateway, APIError, type MintedToken } from '../../../packages/client/src/index.ts';

/** The console's facts about itself. */
export interface Settings {
  gatewayUrl: string;
  tenant: string;
  /** Otherwise the console has no secret to sign tokens with, and forwards the page's reads with its API key. */
  readsWithTokens: boolean;
  /** Where this page reads. */
  readUrl: string;
}

/** A name that the browser does not know, or another machine's, gets no answer in this time. */
const NAME_TRIAL_MS = 5_000;

/** One attempt, for what an open page asks again within seconds. */
export const ONCE = { retryForMs: 0, timeoutMs: 8_000 };
/** It is asked every three seconds, so that the page says within ten that a server is silent. */
export const LOOK = { retryForMs: 0, timeoutMs: 5_000 };

/** The gateway behind the console, which adds the API key: commands, deployments, invocations. */
export const commandGateway = new AgentGateway({ url: location.origin });

/**
 * The gateway, read with tokens for one prefix. The page holds nothing but a token: the console mints it, and the
 * library renews it before it expires.
 */
export function readGateway(settings: Settings, prefix: string): AgentGateway {
  const { readUrl, tenant, readsWithTokens } = settings;
  if (!readsWithTokens) return new AgentGateway({ url: readUrl, tenant });
  return new AgentGateway({ url: readUrl, tenant, authCallback: () => mint(prefix) });
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
  const { pageUrl, ...facts } = (await answer.json()) as Settings & { pageUrl?: string };
  const sharedUrl = facts.readsWithTokens ? facts.gatewayUrl : location.origin;
  const hasOwn = pageUrl !== undefined && (await answers(pageUrl));
  return { ...facts, readUrl: hasOwn ? pageUrl : sharedUrl };
}

/**
 * Whether the browser finds the server under the page's own name. Chromium and Firefox know that it is this machine, but
 * Safari asks the system, which may not. That is no error: the page reads under the name that all pages share.
 */
async function answers(pageUrl: string): Promise<boolean> {
  const init = { mode: 'no-cors' as const, signal: AbortSignal.timeout(NAME_TRIAL_MS) };
  return fetch(`${pageUrl}/health`, init).then(
    () => true,
    () => false,
  );
}

/** Why the gateway gave no answer to the console, or undefined if it did. */
export async function askGateway(): Promise<APIError | undefined> {
  try {
    const answer = await fetch('/health', { signal: AbortSignal.timeout(LOOK.timeoutMs) });
    if (answer.ok) return undefined;
    const { code, detail = '' } = (await answer.json()) as { code?: string; detail?: string };
    // A gateway that answers is not silent, whatever it says.
    if (code !== 'gateway_unreachable') return undefined;
    return new APIError(detail, { status: answer.status, code });
  } catch (cause) {
    return new APIError('The console does not answer.', { code: 'connection_failed', cause });
  }
}

async function mint(prefix: string): Promise<MintedToken> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prefix }),
    signal: AbortSignal.timeout(LOOK.timeoutMs),
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
