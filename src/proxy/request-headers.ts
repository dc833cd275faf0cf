import type { HeaderList } from '../http/header-list.ts';
import { eachEndToEndHeader } from '../http/hop-by-hop.ts';
import type { ProxiedUpstream } from '../upstream/upstreams.ts';

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
 * Throws `malformed_path` for a mapped one that is refused.
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
