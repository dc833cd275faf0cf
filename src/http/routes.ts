/** The public prefixes whose requests are passed on to an upstream with the path as it came. */
export const PROXIED_PREFIXES = ['/streams', '/shapes', '/registry'] as const;
export type ProxiedPrefix = (typeof PROXIED_PREFIXES)[number];

/** The prefixes that browsers read, and so the only ones with CORS. */
export const READ_PREFIXES = ['/streams', '/shapes'] as const;

/** Whether a path is below a prefix. The prefix alone, without a slash after it, is not. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && path[prefix.length] === '/';
}

/** The methods that read: all that CORS and read tokens open. */
export function isReadMethod(method: string): method is 'GET' | 'HEAD' {
  return method === 'GET' || method === 'HEAD';
}

export function isReadPath(path: string): boolean {
  return READ_PREFIXES.some((prefix) => isBelow(path, prefix));
}

export function isProxiedPath(path: string): boolean {
  return PROXIED_PREFIXES.some((prefix) => isBelow(path, prefix));
}
