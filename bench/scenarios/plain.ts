import { direct } from '../contenders/direct.ts';
import { gateway } from '../contenders/gateway.ts';
import { haproxy } from '../contenders/haproxy.ts';
import { nginx } from '../contenders/nginx.ts';
import { nodePeer } from '../contenders/node-peer.ts';
import { startInstantUpstream, type InstantUpstream } from '../upstreams/instant.ts';
import type { ExpectedRead } from '../contenders/check.ts';
import type { BenchContext } from './context.ts';
import { measureReads, type ReadsTable } from './reads.ts';

/** So many that no two of them are under way at once. */
const DISTINCT_URLS = 20_000;

/** Reads of 1 KiB, no two alike, before an upstream that answers at once: the cost of the way through. */
export async function measurePlain(context: BenchContext): Promise<ReadsTable> {
  const upstream = await startInstantUpstream();
  try {
    return await measureReads(context, {
      streamsUrl: upstream.streamsUrl,
      contenders: [
        gateway({ nodeArgs: context.gatewayNodeArgs('plain') }),
        nginx(),
        haproxy,
        nodePeer('bare-undici', 'bare Node and undici'),
        nodePeer('fastify-http-proxy', '@fastify/http-proxy'),
        nodePeer('fast-proxy', 'bare Node and fast-proxy'),
        nodePeer('http2-proxy', 'bare Node and http2-proxy'),
        nodePeer('http-proxy', 'bare Node and http-proxy'),
        nodePeer('http-proxy-middleware', 'bare Node and http-proxy-middleware'),
        direct,
      ],
      expected: instantRead(upstream),
      distinctUrls: DISTINCT_URLS,
    });
  } finally {
    await upstream.stop();
  }
}

export function instantRead({ streamsUrl, body }: InstantUpstream): ExpectedRead {
  const path = '/t/default/agents/chat/a1/timeline?offset=-1';
  return {
    path,
    body,
    headers: {
      'content-type': 'application/json',
      etag: `"${new URL(streamsUrl).pathname}${path}"`,
      'stream-next-offset': '0000000000000000_0000000000001024',
      'stream-up-to-date': 'true',
    },
  };
}
