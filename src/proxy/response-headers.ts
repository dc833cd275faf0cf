import { eachEndToEndHeader } from './hop-by-hop.ts';
import { extendVary, privateCacheControl } from './read-caching.ts';
import { publicLocation, type LocationContext } from './target.ts';

/** What of an upstream's answer is not for the client: CORS, too, is the gateway's alone. */
const DROPPED = new Set(['server', 'x-powered-by', 'set-cookie', 'x-request-id']);

export interface ResponseHeaderRules extends LocationContext {
  /** What a read's answer depends on beside the path, for `Vary`. */
  varyNames: readonly string[];
}

/** The headers of an upstream's answer as the client gets them, names and values by turns. */
export function clientResponseHeaders(
  rawHeaders: readonly string[],
  rules: ResponseHeaderRules,
): string[] {
  const headers: string[] = [];
  const cacheControl: string[] = [];
  const vary: string[] = [];
  const { isRead } = rules.upstream;
  eachEndToEndHeader(rawHeaders, (lowerName, name, value) => {
    if (DROPPED.has(lowerName) || lowerName.startsWith('access-control-')) return;
    if (lowerName === 'location') {
      const location = publicLocation(value, rules);
      if (location !== undefined) headers.push(name, location);
    } else if (isRead && lowerName === 'cache-control') cacheControl.push(value);
    else if (isRead && lowerName === 'vary') vary.push(value);
    // RFC 9213: these speak to shared caches only and would overrule Cache-Control there.
    else if (isRead && isSharedCacheHeader(lowerName)) return;
    else headers.push(name, value);
  });
  if (isRead) {
    headers.push('Cache-Control', privateCacheControl(cacheControl.join(', ')));
    headers.push('Vary', extendVary(vary.join(', '), rules.varyNames));
  }
  return headers;
}

function isSharedCacheHeader(lowerName: string): boolean {
  return lowerName === 'surrogate-control' || lowerName.endsWith('cdn-cache-control');
}
