import type { ProxiedUpstream } from '../upstream/upstreams.ts';

/** What a `Location` is resolved against. */
export interface LocationContext {
  upstream: ProxiedUpstream;
  /** The target that was asked of the upstream. */
  requestTarget: string;
  /** The status of the answer that the `Location` came with. */
  status: number;
  /**
   * The gateway's address as clients know it. Without the setting it is empty, which makes a relative reference
   * (RFC 9110 §10.2.2). It is never made from `Host`, which the client chooses, or from the scheme, which a proxy
   * in front may have changed.
   */
  publicBaseUrl: string;
}

/**
 * A `Location` of the upstream as the client may follow it: below the upstream's base it becomes the
 * same place on the gateway; elsewhere on the upstream's origin, undefined; on another origin, as is.
 * A credential of the upstream's query is in none of them.
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
  const search = upstream.protocol.withoutSecrets?.(url.search) ?? url.search;
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
