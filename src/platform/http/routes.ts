/** The public prefixes whose requests are forwarded to an upstream with an unchanged path. */
export const PROXIED_PREFIXES = ['/streams', '/shapes', '/registry'] as const;
export type ProxiedPrefix = (typeof PROXIED_PREFIXES)[number];

/** The route that load balancers probe on the public port. */
export const HEALTH_ROUTE = '/health';

/** The prefixes that browsers read. Only these have CORS. */
export const READ_PREFIXES = ['/streams', '/shapes'] as const;

/** Whether a path is below a prefix. The prefix alone, without a slash after it, is not. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && path[prefix.length] === '/';
}

/** The methods that read. CORS and read tokens open only these. */
export function isReadMethod(method: string): method is 'GET' | 'HEAD' {
  return method === 'GET' || method === 'HEAD';
}

export function isHealthPath(path: string): boolean {
  return path === HEALTH_ROUTE || path === `${HEALTH_ROUTE}/`;
}

export function isReadPath(path: string): boolean {
  return READ_PREFIXES.some((prefix) => isBelow(path, prefix));
}

export function isProxiedPath(path: string): boolean {
  return PROXIED_PREFIXES.some((prefix) => isBelow(path, prefix));
}
