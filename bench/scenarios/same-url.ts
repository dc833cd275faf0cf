import { direct } from '../contenders/direct.ts';
import type { Contender } from '../contenders/contender.ts';
import { gateway } from '../contenders/gateway.ts';
import { haproxy } from '../contenders/haproxy.ts';
import { nginx } from '../contenders/nginx.ts';
import { nodePeer } from '../contenders/node-peer.ts';
import { startInstantUpstream } from '../upstreams/instant.ts';
import { startStore, writeTimeline } from '../upstreams/store.ts';
import type { BenchContext } from './context.ts';
import { instantRead } from './plain.ts';
import { measureReads, type ReadsTable } from './reads.ts';

const TIMELINE = '/t/default/agents/chat/busy/timeline';
const TIMELINE_BYTES = 20 * 1024;

export interface SameUrlTables {
  instant: ReadsTable;
  store: ReadsTable;
}

/** Everybody reads the same: what sharing is worth, before an upstream that costs nothing and a real one. */
export async function measureSameUrl(context: BenchContext): Promise<SameUrlTables> {
  return { instant: await beforeInstant(context), store: await beforeStore(context) };
}

async function beforeInstant(context: BenchContext): Promise<ReadsTable> {
  context.say('one URL, before an upstream that answers at once');
  const upstream = await startInstantUpstream();
  try {
    return await measureReads(context, {
      streamsUrl: upstream.streamsUrl,
      contenders: contenders(context, 'same-url-instant'),
      expected: instantRead(upstream),
      distinctUrls: 1,
    });
  } finally {
    await upstream.stop();
  }
}

async function beforeStore(context: BenchContext): Promise<ReadsTable> {
  context.say('one URL, before the real history store, a timeline of 20 KiB');
  const store = await startStore();
  try {
    await writeTimeline(store.streamsUrl + TIMELINE, TIMELINE_BYTES);
    const path = `${TIMELINE}?offset=-1`;
    const read = await fetch(store.streamsUrl + path);
    return await measureReads(context, {
      streamsUrl: store.streamsUrl,
      contenders: contenders(context, 'same-url-store'),
      expected: {
        path,
        body: await read.text(),
        headers: {
          'content-type': 'application/json',
          'stream-next-offset': read.headers.get('stream-next-offset') ?? '',
        },
      },
      distinctUrls: 1,
    });
  } finally {
    await store.stop();
  }
}

function contenders(context: BenchContext, part: string): Contender[] {
  return [
    gateway({ nodeArgs: context.gatewayNodeArgs(part) }),
    nginx(),
    haproxy,
    nodePeer('bare-undici', 'bare Node and undici'),
    direct,
  ];
}
