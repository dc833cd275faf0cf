import { direct } from '../contenders/direct.ts';
import { gateway } from '../contenders/gateway.ts';
import { haproxy } from '../contenders/haproxy.ts';
import { nginx } from '../contenders/nginx.ts';
import {
  bareSockets,
  bareUndici,
  dutifulSockets,
  fastifyHttpProxy,
  loggingFastify,
  nodeProxies,
} from '../contenders/node-peer.ts';
import { tracedGateway } from '../contenders/traced-gateway.ts';
import { withStarted } from '../started.ts';
import { INSTANT_BODY, INSTANT_HEADERS, type InstantUpstream } from '../upstreams/instant.ts';
import { startNginxUpstream } from '../upstreams/nginx-upstream.ts';
import { startNodeUpstream } from '../upstreams/node-upstream.ts';
import { startTraceSink } from '../upstreams/trace-sink.ts';
import type { ExpectedRead } from '../contenders/check.ts';
import type { BenchContext } from './context.ts';
import { measureReads, type ReadsTable } from './reads.ts';

/** The results for each of the two upstreams that answer at once. */
export interface PlainTables {
  node: ReadsTable;
  nginx: ReadsTable;
}

/** Enough distinct URLs that no two requests in flight have the same one. */
export const DISTINCT_URLS = 20_000;

/** Further numbers of connections, measured only for the contenders of the plot. */
const CURVE = {
  connections: [8, 256],
  ids: ['gateway', 'nginx', 'bare-undici', 'fastify-http-proxy'],
};

/** Reads of 1 KiB from distinct URLs, with an upstream that answers at once. This measures the cost of the proxy. */
export async function measurePlain(context: BenchContext): Promise<PlainTables> {
  return { node: await beforeNode(context), nginx: await beforeNginx(context) };
}

function beforeNode(context: BenchContext): Promise<ReadsTable> {
  context.say('before an upstream of Node');
  return withStarted(async (started) => {
    const upstream = started.add(await startNodeUpstream());
    const sink = started.add(await startTraceSink());
    const isWhole = context.options.connections.length > 1;
    return measureReads(context, {
      streamsUrl: upstream.streamsUrl,
      contenders: [
        gateway({ nodeArgs: context.gatewayNodeArgs('plain') }),
        gateway({
          id: 'gateway-quiet',
          label: 'agent gateway, its log off',
          env: { GATEWAY_LOG_LEVEL: 'warn' },
        }),
        tracedGateway(sink),
        nginx(),
        nginx({ hasLog: true }),
        haproxy,
        bareUndici,
        bareSockets,
        dutifulSockets,
        ...nodeProxies,
        loggingFastify,
        direct,
      ],
      expected: instantRead(upstream),
      distinctUrls: DISTINCT_URLS,
      ...(isWhole && { curve: CURVE }),
    });
  });
}

function beforeNginx(context: BenchContext): Promise<ReadsTable> {
  context.say('before an upstream of nginx');
  return withStarted(async (started) => {
    const upstream = started.add(await startNginxUpstream());
    return measureReads(context, {
      streamsUrl: upstream.streamsUrl,
      contenders: [
        gateway({ nodeArgs: context.gatewayNodeArgs('plain-nginx') }),
        nginx(),
        haproxy,
        bareUndici,
        bareSockets,
        dutifulSockets,
        fastifyHttpProxy,
        direct,
      ],
      expected: instantRead(upstream),
      distinctUrls: DISTINCT_URLS,
    });
  });
}

export function instantRead({ streamsUrl }: InstantUpstream): ExpectedRead {
  const path = '/t/default/agents/chat/a1/timeline?offset=-1';
  return {
    path,
    body: INSTANT_BODY,
    headers: {
      'content-type': 'application/json',
      etag: `"${new URL(streamsUrl).pathname}${path}"`,
      'stream-next-offset': INSTANT_HEADERS['Stream-Next-Offset'],
      'stream-up-to-date': INSTANT_HEADERS['Stream-Up-To-Date'],
    },
  };
}
