import type { HeaderList } from '../http/header-list.ts';
import { eachEndToEndHeader } from './hop-by-hop.ts';
import { toUpstreamForkSource } from './target.ts';
import type { Upstream } from '../upstream/upstreams.ts';

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

/**
 * The headers of a request toward an upstream, names in lower case, but for the length of its body.
 * Throws `malformed_path` for a fork source that is refused.
 */
export function upstreamRequestHeaders(
  rawHeaders: readonly string[],
  upstream: Upstream,
  requestId: string,
): HeaderList {
  const headers: HeaderList = [];
  eachEndToEndHeader(rawHeaders, (name, _, value) => {
    if (DROPPED.has(name) || name.startsWith('x-forwarded-')) return;
    const isForkSource = name === 'stream-forked-from' && upstream.name === 'history';
    headers.push(name, isForkSource ? toUpstreamForkSource(value, upstream) : value);
  });
  headers.push('host', upstream.base.host, 'x-request-id', requestId);
  if (upstream.token !== undefined) headers.push('authorization', `Bearer ${upstream.token}`);
  return headers;
}
