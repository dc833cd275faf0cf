import { direct } from '../contenders/direct.ts';
import type { Contender } from '../contenders/contender.ts';
import { gateway } from '../contenders/gateway.ts';
import { nginx } from '../contenders/nginx.ts';
import { bareShared, dutifulShared } from '../contenders/node-peer.ts';
import { withStarted } from '../started.ts';
import type { InstantUpstream } from '../upstreams/instant.ts';
import { startNginxUpstream } from '../upstreams/nginx-upstream.ts';
import { startNodeUpstream } from '../upstreams/node-upstream.ts';
import { startStore, writeTimeline } from '../upstreams/store.ts';
import type { BenchContext } from './context.ts';
import { instantRead } from './plain.ts';
import { measureReads, type ReadsTable } from './reads.ts';

const TIMELINE = '/t/default/agents/chat/busy/timeline';
const TIMELINE_BYTES = 20 * 1024;

/** The results for each upstream: two that answer at once, and the real store. */
export interface SameUrlTables {
  node: ReadsTable;
  nginx: ReadsTable;
  store: ReadsTable;
}

/** All clients read the same URL. It shows what sharing saves, for cheap and for expensive upstream requests. */
export async function measureSameUrl(context: BenchContext): Promise<SameUrlTables> {
  return {
    node: await beforeInstant(context, 'node', startNodeUpstream),
    nginx: await beforeInstant(context, 'nginx', startNginxUpstream),
    store: await beforeStore(context),
  };
}

function beforeInstant(
  context: BenchContext,
  kind: 'node' | 'nginx',
  start: () => Promise<InstantUpstream>,
): Promise<ReadsTable> {
  context.say(`one URL, before an upstream of ${kind} that answers at once`);
  return withStarted(async (started) => {
    const upstream = started.add(await start());
    return measureReads(context, {
      streamsUrl: upstream.streamsUrl,
      contenders: line(context, `same-url-${kind}`),
      expected: instantRead(upstream),
      distinctUrls: 1,
    });
  });
}

function beforeStore(context: BenchContext): Promise<ReadsTable> {
  context.say('one URL, before the real history store, a timeline of 20 KiB');
  return withStarted(async (started) => {
    const store = started.add(await startStore());
    await writeTimeline(store.streamsUrl + TIMELINE, TIMELINE_BYTES);
    const path = `${TIMELINE}?offset=-1`;
    const read = await fetch(store.streamsUrl + path);
    return measureReads(context, {
      streamsUrl: store.streamsUrl,
      contenders: line(context, 'same-url-store'),
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
  });
}

function line(context: BenchContext, part: string): Contender[] {
  return [
    gateway({ nodeArgs: context.gatewayNodeArgs(part) }),
    nginx(),
    bareShared,
    dutifulShared,
    direct,
  ];
}
