import { CliError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import type { Notices } from '../output/notices.ts';
import type { Connection } from './connection.ts';
import { gatewayFetch } from './gateway-fetch.ts';
import { finalNetworkError, mayHaveArrived, networkErrorInWords } from './network-error.ts';
import { pause, pauseMs } from './pause.ts';
import { notAGateway, refusalError, refusalInWords, refusalOf, type Refusal } from './refusal.ts';

/** Longer than the gateway gives a command (`GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS`, 15 s). */
const ATTEMPT_TIMEOUT_MS = 20_000;

export interface CommandRequest {
  /** Below the gateway's address, such as `/api/spawn`. */
  path: string;
  body: Uint8Array<ArrayBuffer> | string;
  contentType: string;
  /** Sent with every try, so that the runtime handles one of them. */
  idempotencyKey: string;
}

/** What the gateway answers to a command, and whether it had accepted the same before. */
export interface CommandAnswer {
  url: string;
  streamPath: string;
  streamUrl: string;
  restate: { invocationId: string };
  replayed: boolean;
  idempotencyKey: string;
  requestId: string | undefined;
}

export interface CommandSending {
  /** How long to try again after a failure that may go away, in milliseconds. */
  retryForMs: number;
  notices: Notices;
  interrupted: AbortSignal;
}

/** A try that failed and may be repeated. */
interface FailedTry {
  reason: string;
  retryAfterMs: number;
  mayHaveArrived: boolean;
  /** The answer, where there was one. */
  refusal: Refusal | undefined;
}

/**
 * Sends a command until it is accepted or refused for good. Every try has the same idempotency key: the
 * runtime handles it once, however many tries reach it. Throws a `CliError`.
 */
export async function sendCommand(
  connection: Connection,
  request: CommandRequest,
  { retryForMs, notices, interrupted }: CommandSending,
): Promise<CommandAnswer> {
  const giveUpAtMs = performance.now() + retryForMs;
  let mayBeHandled = false;
  for (let failures = 1; ; failures++) {
    const result = await tryOnce(connection, request, interrupted);
    if (!('reason' in result)) return result;
    mayBeHandled ||= result.mayHaveArrived;
    const waitMs = pauseMs(failures, result.retryAfterMs);
    if (performance.now() + waitMs > giveUpAtMs) {
      throw givenUp(connection, request, result, mayBeHandled);
    }
    if (failures === 1) {
      const seconds = Math.round(retryForMs / 1_000);
      notices.say(`${result.reason}; trying again for up to ${seconds} s.`);
    }
    await pause(waitMs, interrupted);
    interrupted.throwIfAborted();
  }
}

async function tryOnce(
  connection: Connection,
  { path, body, contentType, idempotencyKey }: CommandRequest,
  interrupted: AbortSignal,
): Promise<CommandAnswer | FailedTry> {
  let response: Response;
  let text: string;
  try {
    response = await gatewayFetch(connection)(`${connection.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': contentType, 'idempotency-key': idempotencyKey },
      body,
      signal: AbortSignal.any([interrupted, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]),
    });
    text = await response.text();
  } catch (error) {
    interrupted.throwIfAborted();
    const final = finalNetworkError(error, connection.url);
    if (final) throw final;
    return {
      reason: `The gateway at ${connection.url} cannot be reached: ${networkErrorInWords(error)}`,
      retryAfterMs: 0,
      mayHaveArrived: mayHaveArrived(error),
      refusal: undefined,
    };
  }
  if (response.ok) return accepted(connection, response, text, idempotencyKey);
  const refusal = refusalOf({ status: response.status, headers: response.headers, text });
  // Below 500 it is refused for good, but for a limit or a timeout.
  if (response.status < 500 && response.status !== 429 && response.status !== 408) {
    throw refusalError(refusal, connection);
  }
  return {
    reason: refusalInWords(refusal).replace(/\.$/, ''),
    retryAfterMs: refusal.retryAfterMs,
    mayHaveArrived: response.status >= 500 && response.status !== 503,
    refusal,
  };
}

function accepted(
  { url }: Connection,
  response: Response,
  text: string,
  idempotencyKey: string,
): CommandAnswer {
  const answer = parseAnswer(text);
  if (response.status !== 202 || !answer) {
    throw notAGateway(url, `it answers a command with ${response.status}, and not as documented`);
  }
  return {
    ...answer,
    replayed: response.headers.get('idempotency-replayed') === 'true',
    idempotencyKey,
    requestId: response.headers.get('x-request-id') ?? undefined,
  };
}

type AcceptedBody = Pick<CommandAnswer, 'url' | 'streamPath' | 'streamUrl' | 'restate'>;

function parseAnswer(text: string): AcceptedBody | undefined {
  try {
    const body = JSON.parse(text) as Partial<AcceptedBody> | null;
    const isWhole =
      typeof body?.url === 'string' &&
      typeof body.streamPath === 'string' &&
      typeof body.streamUrl === 'string' &&
      typeof body.restate?.invocationId === 'string';
    return isWhole ? (body as AcceptedBody) : undefined;
  } catch {
    return undefined;
  }
}

function givenUp(
  connection: Connection,
  { idempotencyKey }: CommandRequest,
  { reason, refusal }: FailedTry,
  mayBeHandled: boolean,
): CliError {
  const hint = mayBeHandled
    ? 'It may have been accepted all the same. The same command with ' +
      `--idempotency-key ${idempotencyKey} is handled once at most.`
    : `Nothing was accepted. Is ${connection.url} the right address? agent-gateway doctor tells more.`;
  return refusal
    ? refusalError(refusal, connection, hint)
    : new CliError(EXIT.unreachable, `${reason}.`, hint);
}
