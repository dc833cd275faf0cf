import { isBelow } from '../platform/http/request-path.ts';

/** The public prefixes whose requests are forwarded to an upstream with an unchanged path. */
export const PROXIED_PREFIXES = ['/streams', '/shapes', '/registry'] as const;
export type ProxiedPrefix = (typeof PROXIED_PREFIXES)[number];

/** The route that load balancers probe on the public port. */
export const HEALTH_ROUTE = '/health';

/** The prefixes that browsers read. Only these have CORS. */
export const READ_PREFIXES = ['/streams', '/shapes'] as const;

export function isHealthPath(path: string): boolean {
  return path === HEALTH_ROUTE || path === `${HEALTH_ROUTE}/`;
}

export function isReadPath(path: string): boolean {
  return READ_PREFIXES.some((prefix) => isBelow(path, prefix));
}

export function isProxiedPath(path: string): boolean {
  return PROXIED_PREFIXES.some((prefix) => isBelow(path, prefix));
}
