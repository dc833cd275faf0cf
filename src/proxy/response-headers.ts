import type { HeaderList } from '../http/header-list.ts';
import { holdsSecret } from './held-secret.ts';
import { eachEndToEndHeader } from '../http/hop-by-hop.ts';
import { extendVary, privateCacheControl } from './read-caching.ts';
import { publicLocation, type LocationContext } from './location.ts';

/** What of an upstream's answer is not for the client: CORS, too, is the gateway's alone. */
const DROPPED = new Set([
  'server',
  'electric-server',
  'x-powered-by',
  'set-cookie',
  'set-cookie2',
  'surrogate-control',
  'x-request-id',
]);

export interface ResponseHeaderRules extends LocationContext {
  /** What a read's answer depends on beside the path, for `Vary`. */
  varyNames: readonly string[];
  /** The sync engine's secret, as `asHeaderBytes` gives it: no header that holds it goes to a client. */
  secretBytes: string | undefined;
}

/** The headers of an upstream's answer as the client gets them. */
export function clientResponseHeaders(
  rawHeaders: readonly string[],
  rules: ResponseHeaderRules,
): HeaderList {
  const headers: HeaderList = [];
  let cacheControl: string | undefined;
  let vary: string | undefined;
  let contentLength: string | undefined;
  eachEndToEndHeader(rawHeaders, (lowerName, name, value) => {
    if (isDropped(lowerName, rules)) return;
    const passed = lowerName === 'location' ? publicLocation(value, rules) : value;
    if (passed === undefined || isSecret(passed, rules)) return;
    if (lowerName === 'cache-control') cacheControl = joined(cacheControl, passed);
    else if (lowerName === 'vary') vary = joined(vary, passed);
    else if (lowerName === 'content-length') contentLength = passed;
    else headers.push(name, passed);
  });
  if (rules.upstream.isRead) {
    headers.push('Cache-Control', privateCacheControl(cacheControl));
    headers.push('Vary', extendVary(vary, rules.varyNames));
  } else {
    // The admin API says nothing of caching, and a cache may have a lifetime of its own for that.
    headers.push('Cache-Control', cacheControl ?? 'no-store');
    if (vary !== undefined) headers.push('Vary', vary);
  }
  // Behind it Node takes a `Content-Disposition` for UTF-8, and refuses what is not (seen on Node 24).
  if (contentLength !== undefined) headers.push('Content-Length', contentLength);
  return headers;
}

/** The value of a header that may come in several lines (RFC 9110 §5.3). */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

function isDropped(lowerName: string, { upstream }: ResponseHeaderRules): boolean {
  if (DROPPED.has(lowerName) || lowerName.startsWith('access-control-')) return true;
  return upstream.isRead && isSharedCacheHeader(lowerName);
}

/** RFC 9213: these speak to shared caches only, and would overrule `Cache-Control` there. */
function isSharedCacheHeader(lowerName: string): boolean {
  return lowerName.endsWith('cdn-cache-control');
}

/** As in a redirect, or a link, to the very URL that the gateway has asked for. */
function isSecret(value: string, { secretBytes }: ResponseHeaderRules): boolean {
  return secretBytes !== undefined && holdsSecret(value, secretBytes);
}
