import type { AgentOptions } from 'node:http';
import { headerValue, type HeaderList } from '../../../platform/http/header-list.ts';

/**
 * An idle connection is closed after this time, or a margin before the upstream's own `Keep-Alive: timeout` if that
 * is sooner, so that a request does not meet a closing connection.
 */
export const IDLE_TIMEOUT_MS = 60_000;
export const IDLE_MARGIN_MS = 2_000;

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

/**
 * The same for Node's agent, which reads the upstream's header only if a time is set here. Node before 22.20 has a
 * margin of a second of its own. It does not affect requests in flight.
 */
export const KEPT_BY_AGENT: AgentOptions = {
  keepAlive: true,
  maxFreeSockets: 256,
  timeout: IDLE_TIMEOUT_MS,
  agentKeepAliveTimeoutBuffer: IDLE_MARGIN_MS,
};

/**
 * The same for undici's pool, with a shorter time if the upstream sends no header: a command on a closing
 * connection may not be sent again.
 */
export const KEPT_BY_UNDICI = {
  keepAliveTimeout: 4_000,
  keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
} as const;
