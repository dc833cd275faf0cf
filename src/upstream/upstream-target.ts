import { isBelow } from '../http/routes.ts';

/** How public paths become those of an upstream. */
export interface MappedPaths {
  /** The base URL's path without a trailing slash, empty where it has none. */
  basePath: string;
  /** The public prefix that stands for it. */
  prefix: string;
}

/**
 * The target at the upstream: its base path, then the unchanged bytes after the public prefix. Throws a plain Error for a
 * path that is not below the prefix: it was not judged as one.
 */
export function upstreamTarget(
  { basePath, prefix }: MappedPaths,
  path: string,
  query: string,
): string {
  if (!isBelow(path, prefix)) throw new Error('a path that is not below the route came to it');
  return basePath + path.slice(prefix.length) + query;
}
