import { headerValue, type HeaderList } from '../../http/header-list.ts';

/**
 * After this an idle connection is closed, or two seconds before the upstream's own
 * `Keep-Alive: timeout` where that is sooner.
 */
export const DEFAULT_IDLE_TIMEOUT_MS = 60_000;
const IDLE_MARGIN_MS = 2_000;

/** How long a connection may be kept behind an answer with these headers, in milliseconds. */
export function idleTimeoutMs(headers: HeaderList): number {
  const keepAlive = headerValue(headers, 'keep-alive') ?? '';
  const seconds = /(?:^|[\s,])timeout=(\d+)/i.exec(keepAlive)?.[1];
  if (seconds === undefined) return DEFAULT_IDLE_TIMEOUT_MS;
  return Math.min(DEFAULT_IDLE_TIMEOUT_MS, Math.max(0, Number(seconds) * 1_000 - IDLE_MARGIN_MS));
}
