import { GatewayError } from '../errors/gateway-error.ts';
import { pathProblem } from '../request/request-path.ts';
import { withoutSecrets } from './query.ts';
import type { Upstream } from './upstreams.ts';

/** The target at the upstream: its base path, then the very bytes behind the public prefix. */
export function upstreamTarget(upstream: Upstream, path: string, query: string): string {
  return upstream.basePath + path.slice(upstream.prefix.length) + query;
}

/**
 * The value of `Stream-Forked-From` as the history store knows it: a public path is mapped to the
 * store's own, anything else passes. Throws `malformed_path`, as for a request path.
 */
export function toUpstreamForkSource(source: string, upstream: Upstream): string {
  const problem = pathProblem(source);
  if (problem) {
    throw new GatewayError(
      'malformed_path',
      `The path in Stream-Forked-From ${problem}; send it in its plain, normalized form.`,
    );
  }
  return source.startsWith(`${upstream.prefix}/`) ? upstreamTarget(upstream, source, '') : source;
}

/**
 * A `Location` of the upstream as the client may follow it: below the upstream's base it becomes the
 * same place on the gateway; elsewhere on the upstream's origin, undefined; on another origin, as is.
 */
export function publicLocation(
  location: string,
  upstream: Upstream,
  requestTarget: string,
  publicBaseUrl: string,
): string | undefined {
  const requestUrl = upstream.base.origin + requestTarget;
  if (!URL.canParse(location, requestUrl)) return undefined;
  const url = new URL(location, requestUrl);
  if (url.origin !== upstream.base.origin) return location;
  const isBelowBase =
    url.pathname === upstream.basePath || url.pathname.startsWith(`${upstream.basePath}/`);
  if (!isBelowBase) return undefined;
  const path = upstream.prefix + url.pathname.slice(upstream.basePath.length);
  return publicBaseUrl + path + withoutSecrets(url.search) + url.hash;
}
