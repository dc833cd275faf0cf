/** How public paths become those of an upstream. */
export interface MappedPaths {
  /** The base URL's path without a trailing slash, empty where it has none. */
  basePath: string;
  /** The public prefix that stands for it. */
  prefix: string;
}

/** The target at the upstream: its base path, then the very bytes behind the public prefix. */
export function upstreamTarget(
  { basePath, prefix }: MappedPaths,
  path: string,
  query: string,
): string {
  return basePath + path.slice(prefix.length) + query;
}
