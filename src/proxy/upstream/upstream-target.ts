import { isBelow } from '../../platform/http/request-path.ts';

/** The mapping of public paths to those of an upstream. */
export interface MappedPaths {
  /** The path of the base URL without a trailing slash, or empty. */
  basePath: string;
  /** The public prefix that stands for it. */
  prefix: string;
}

/**
 * The target at the upstream: its base path and the unchanged bytes after the public prefix. Throws a plain Error
 * for a path that is not below the prefix, because it was not checked as one.
 */
export function upstreamTarget(
  { basePath, prefix }: MappedPaths,
  path: string,
  query: string,
): string {
  if (!isBelow(path, prefix)) throw new Error('a path that is not below the route came to it');
  return basePath + path.slice(prefix.length) + query;
}
