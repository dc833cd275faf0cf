import { headerValue, type HeaderList } from '../../../platform/http/header-list.ts';

/**
 * An idle connection is closed after this time, or a margin before the upstream's own `Keep-Alive: timeout` if that
 * is sooner, so that a request does not meet a closing connection.
 */
export const IDLE_TIMEOUT_MS = 60_000;
const IDLE_MARGIN_MS = 2_000;
/** A connection is closed at this age, or when its response has ended, so that a new address of its name gets the work. */
export const MAX_AGE_MS = 60_000;
/** What may not be repeated goes only on a connection that answered within this time: others may have died silently. */
export const PROVEN_MS = 5_000;

/**
 * Whether a body may still come after the end of a response. One to HEAD, a 204 and a 304 have none (RFC 9112 §6.3),
 * whatever they declare. An upstream that sends it all the same may send it late, and the next request on the connection
 * would get it.
 */
export function bodyMayFollow(
  method: string | undefined,
  status: number,
  header: (lowerName: string) => string | undefined,
): boolean {
  if (method === 'HEAD') return true;
  if (status !== 204 && status !== 304) return false;
  return header('transfer-encoding') !== undefined || (header('content-length') ?? '0') !== '0';
}

/** How long to keep a connection after a response with these headers, in milliseconds. */
export function idleTimeoutMs(headers: HeaderList): number {
  const keepAlive = headerValue(headers, 'keep-alive') ?? '';
  const seconds = /(?:^|[\s,])timeout=(\d+)/i.exec(keepAlive)?.[1];
  if (seconds === undefined) return IDLE_TIMEOUT_MS;
  return Math.min(IDLE_TIMEOUT_MS, Math.max(0, Number(seconds) * 1_000 - IDLE_MARGIN_MS));
}
