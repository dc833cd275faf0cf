import { eachEndToEndHeader } from './hop-by-hop.ts';
import { toUpstreamForkSource } from './target.ts';
import type { Upstream } from './upstreams.ts';

/**
 * What a client may not send on: its credentials, what it claims of hops before it, and what the
 * gateway sets itself.
 */
const DROPPED = new Set([
  'authorization',
  'cookie',
  'forwarded',
  'host',
  'expect',
  'x-request-id',
  'content-length',
]);

export type UpstreamHeaders = Record<string, string | string[]>;

/**
 * The headers of a request toward an upstream, but for the length of its body. Throws
 * `malformed_path` for a fork source that is refused.
 */
export function upstreamRequestHeaders(
  rawHeaders: readonly string[],
  upstream: Upstream,
  requestId: string,
): UpstreamHeaders {
  // A client may name a header `constructor` or `__proto__`.
  const headers = Object.create(null) as UpstreamHeaders;
  eachEndToEndHeader(rawHeaders, (name, _, value) => {
    if (DROPPED.has(name) || name.startsWith('x-forwarded-')) return;
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  });
  const forkSource = headers['stream-forked-from'];
  if (forkSource !== undefined && upstream.name === 'history') {
    headers['stream-forked-from'] = [forkSource]
      .flat()
      .map((source) => toUpstreamForkSource(source, upstream));
  }
  headers.host = upstream.base.host;
  headers['x-request-id'] = requestId;
  if (upstream.token !== undefined) headers.authorization = `Bearer ${upstream.token}`;
  return headers;
}
