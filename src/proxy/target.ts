import { GatewayError } from '../errors/gateway-error.ts';
import { pathProblem } from '../request/request-path.ts';
import { withoutSecrets } from '../upstream/protocols/electric.ts';
import type { Upstream } from '../upstream/upstreams.ts';

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

/** What a `Location` is resolved against. */
export interface LocationContext {
  upstream: Upstream;
  /** The target that was asked of the upstream. */
  requestTarget: string;
  /** The status of the answer that the `Location` came with. */
  status: number;
  /**
   * The gateway's own address as clients know it; empty where no setting tells, for a reference relative to
   * whatever they asked (RFC 9110 §10.2.2). Never made of `Host`, which the client chooses, nor of the
   * scheme, which a proxy in front may have changed.
   */
  publicBaseUrl: string;
}

/**
 * A `Location` of the upstream as the client may follow it: below the upstream's base it becomes the
 * same place on the gateway; elsewhere on the upstream's origin, undefined; on another origin, as is.
 * The sync engine's credential is in none of them.
 *
 * A server that was bound to `0.0.0.0` may name by that what it just created: the place asked for,
 * under another origin, is the upstream's own all the same (RFC 9110 §15.3.2).
 */
export function publicLocation(
  location: string,
  { upstream, requestTarget, status, publicBaseUrl }: LocationContext,
): string | undefined {
  const requestUrl = new URL(upstream.base.origin + requestTarget);
  if (!URL.canParse(location, requestUrl.href)) return undefined;
  const url = new URL(location, requestUrl);
  const search = upstream.name === 'sync' ? withoutSecrets(url.search) : url.search;
  const isWhatWasCreated = status === 201 && url.pathname === requestUrl.pathname;
  if (url.origin !== upstream.base.origin && !isWhatWasCreated) {
    if (search === url.search) return location;
    url.search = search;
    return url.href;
  }
  if (!url.pathname.startsWith(`${upstream.basePath}/`)) return undefined;
  const path = upstream.prefix + url.pathname.slice(upstream.basePath.length);
  return publicBaseUrl + path + search + url.hash;
}
