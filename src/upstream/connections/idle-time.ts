import type { AgentOptions } from 'node:http';
import { headerValue, type HeaderList } from '../../http/header-list.ts';

/**
 * After this an idle connection is closed, or a margin before the upstream's own `Keep-Alive: timeout` where
 * that is sooner, so that a request does not meet a connection that is just being closed.
 */
export const IDLE_TIMEOUT_MS = 60_000;
export const IDLE_MARGIN_MS = 2_000;

/** How long to keep a connection after a response with these headers, in milliseconds. */
export function idleTimeoutMs(headers: HeaderList): number {
  const keepAlive = headerValue(headers, 'keep-alive') ?? '';
  const seconds = /(?:^|[\s,])timeout=(\d+)/i.exec(keepAlive)?.[1];
  if (seconds === undefined) return IDLE_TIMEOUT_MS;
  return Math.min(IDLE_TIMEOUT_MS, Math.max(0, Number(seconds) * 1_000 - IDLE_MARGIN_MS));
}

/**
 * The same for an agent of Node's, which looks at the upstream's header only where a time is set here. A Node
 * before 22.20 has a margin of its own, a second. Requests under way are not concerned.
 */
export const KEPT_BY_AGENT: AgentOptions = {
  keepAlive: true,
  maxFreeSockets: 256,
  timeout: IDLE_TIMEOUT_MS,
  agentKeepAliveTimeoutBuffer: IDLE_MARGIN_MS,
};

/**
 * The same for a pool of undici's, but shorter where the upstream says nothing: a command that meets a connection
 * being closed may not be sent again.
 */
export const KEPT_BY_UNDICI = {
  keepAliveTimeout: 4_000,
  keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
} as const;
