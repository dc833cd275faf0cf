import type { HeaderList } from '../../platform/http/header-list.ts';
import { eachEndToEndHeader } from './hop-by-hop.ts';
import type { Upstream } from '../upstream/upstream.ts';

/**
 * Headers of a client that are not forwarded with a write: its credentials, its claims about earlier hops, and the headers
 * that the gateway sets itself.
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

/** The headers of a client that are forwarded with a read. All of them are in the key by which reads are shared. */
const OF_READS = new Set(['accept', 'accept-encoding', 'range', 'last-event-id']);
const PREFIXES_OF_READS = ['if-', 'stream-', 'electric-'];

/** The client's headers for a read, with names in lower case. Throws `malformed_path` if a mapped header is invalid. */
export function readHeaders(rawHeaders: readonly string[], upstream: Upstream): HeaderList {
  return clientHeaders(rawHeaders, upstream, isOfReads);
}

/** The client's headers for any other request, except the length of its body. Throws `malformed_path` as well. */
export function writeHeaders(rawHeaders: readonly string[], upstream: Upstream): HeaderList {
  return clientHeaders(
    rawHeaders,
    upstream,
    (name) => !DROPPED.has(name) && !name.startsWith('x-forwarded-'),
  );
}

/** The gateway's own headers of an upstream request. */
export function ownRequestHeaders(upstream: Upstream, requestId: string): HeaderList {
  const headers = ['host', upstream.base.host, 'x-request-id', requestId];
  const { authorization } = upstream;
  if (authorization !== undefined) headers.push('authorization', authorization);
  return headers;
}

function isOfReads(name: string): boolean {
  return OF_READS.has(name) || PREFIXES_OF_READS.some((prefix) => name.startsWith(prefix));
}

function clientHeaders(
  rawHeaders: readonly string[],
  upstream: Upstream,
  isForwarded: (lowerName: string) => boolean,
): HeaderList {
  const { mappedHeader } = upstream.protocol;
  const headers: HeaderList = [];
  eachEndToEndHeader(rawHeaders, (name, _, value) => {
    if (!isForwarded(name)) return;
    const isMapped = name === mappedHeader?.name;
    headers.push(name, isMapped ? mappedHeader.toUpstream(value, upstream) : value);
  });
  return headers;
}
