import type { HeaderList } from '../../platform/http/header-list.ts';
import { eachEndToEndHeader } from '../../platform/http/hop-by-hop.ts';
import type { ProxiedUpstream } from '../upstream/upstreams.ts';

/**
 * Headers of a client that are not forwarded: its credentials, its claims about earlier hops, and the headers that
 * the gateway sets itself.
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
 * The headers of an upstream request, except the length of its body. Names are in lower case. Throws
 * `malformed_path` if a mapped header is invalid.
 */
export function upstreamRequestHeaders(
  rawHeaders: readonly string[],
  upstream: ProxiedUpstream,
  requestId: string,
): HeaderList {
  const { mappedHeader } = upstream.protocol;
  const headers: HeaderList = [];
  eachEndToEndHeader(rawHeaders, (name, _, value) => {
    if (DROPPED.has(name) || name.startsWith('x-forwarded-')) return;
    headers.push(
      name,
      name === mappedHeader?.name ? mappedHeader.toUpstream(value, upstream) : value,
    );
  });
  headers.push('host', upstream.base.host, 'x-request-id', requestId);
  const { authorization } = upstream;
  if (authorization !== undefined) headers.push('authorization', authorization);
  return headers;
}
