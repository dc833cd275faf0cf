import type { Upstream } from '../upstream/upstream.ts';

/** Where a response is from, and where its client finds the gateway. */
export interface AnswerPlace {
  upstream: Upstream;
  /** The target of the upstream request. */
  requestTarget: string;
  /**
   * The gateway's address for clients. It is empty without the setting, which makes a relative reference (RFC 9110
   * §10.2.2). It never comes from `Host`, which the client chooses, or from the scheme, which a proxy in front may
   * have changed.
   */
  publicBaseUrl: string;
}

/**
 * Rewrites an upstream's `Location` for the client. A place below the upstream's base becomes the same place on the
 * gateway. A place elsewhere on the upstream's origin gives undefined. Another origin stays as it is. Credentials
 * in the query are removed. A server that is bound to `0.0.0.0` may use that address for what it has just created:
 * the requested path under another origin still belongs to the upstream (RFC 9110 §15.3.2).
 */
export function publicLocation(
  location: string,
  status: number,
  { upstream, requestTarget, publicBaseUrl }: AnswerPlace,
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
