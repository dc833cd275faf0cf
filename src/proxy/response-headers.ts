import { eachEndToEndHeader } from './hop-by-hop.ts';
import { extendVary, privateCacheControl } from './read-caching.ts';
import { publicLocation, type LocationContext } from './target.ts';

/** What of an upstream's answer is not for the client: CORS, too, is the gateway's alone. */
const DROPPED = new Set(['server', 'x-powered-by', 'set-cookie', 'x-request-id']);

export interface ResponseHeaderRules extends LocationContext {
  /** What a read's answer depends on beside the path, for `Vary`. */
  varyNames: readonly string[];
}

/** A header's name as the upstream wrote it, and its values. */
export interface ResponseHeader {
  name: string;
  values: string[];
}

/** The headers of an upstream's answer as the client gets them, each name once. */
export function clientResponseHeaders(
  rawHeaders: readonly string[],
  rules: ResponseHeaderRules,
): ResponseHeader[] {
  const headers = new Map<string, ResponseHeader>();
  eachEndToEndHeader(rawHeaders, (lowerName, name, value) => {
    if (isDropped(lowerName, rules)) return;
    const passed = lowerName === 'location' ? publicLocation(value, rules) : value;
    if (passed === undefined) return;
    const header = headers.get(lowerName);
    if (header) header.values.push(passed);
    else headers.set(lowerName, { name, values: [passed] });
  });
  if (rules.upstream.isRead) {
    const joined = (lowerName: string): string | undefined =>
      headers.get(lowerName)?.values.join(', ');
    const cacheControl = privateCacheControl(joined('cache-control'));
    const vary = extendVary(joined('vary'), rules.varyNames);
    headers.set('cache-control', { name: 'Cache-Control', values: [cacheControl] });
    headers.set('vary', { name: 'Vary', values: [vary] });
  } else if (!headers.has('cache-control')) {
    // The admin API says nothing of caching, and a cache may have a lifetime of its own for that.
    headers.set('cache-control', { name: 'Cache-Control', values: ['no-store'] });
  }
  return [...headers.values()];
}

function isDropped(lowerName: string, { upstream }: ResponseHeaderRules): boolean {
  if (DROPPED.has(lowerName) || lowerName.startsWith('access-control-')) return true;
  return upstream.isRead && isSharedCacheHeader(lowerName);
}

/** RFC 9213: these speak to shared caches only, and would overrule `Cache-Control` there. */
function isSharedCacheHeader(lowerName: string): boolean {
  return lowerName === 'surrogate-control' || lowerName.endsWith('cdn-cache-control');
}
