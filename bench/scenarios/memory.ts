import type { Contender, RunningContender } from '../contenders/contender.ts';
import {
  gateway,
  largeYoungGateway,
  startGateway,
  type RunningGateway,
} from '../contenders/gateway.ts';
import { bareShared, dutifulShared } from '../contenders/node-peer.ts';
import { DESCRIPTORS } from '../descriptors.ts';
import { download, stall } from '../load/download.ts';
import { followOwnTimelines } from '../load/own-timelines.ts';
import { loadReads } from '../load/wrk.ts';
import { kernelBytes, peakResidentBytes, residentBytes } from '../measure/memory.ts';
import { settle } from '../measure/settle.ts';
import { untilCounted } from '../measure/until-counted.ts';
import { withStarted } from '../started.ts';
import { LARGE_STREAM, startNginxUpstream } from '../upstreams/nginx-upstream.ts';
import { append, createStream, startStore, type Store } from '../upstreams/store.ts';
import type { BenchContext } from './context.ts';
import { deliver } from './delivery.ts';

const STALL_MS = 3_000;
/** After so many events every reader has had several responses and parked again each time. */
const EVENTS = 5;
const AT_ONCE = 50;

/** Resident memory of the gateway in bytes: the most during a step, and at rest after it. */
export interface MemoryStep {
  name: string;
  peakBytes: number;
  afterBytes: number;
}

/** Parked readers. */
export interface ParkedMemory {
  label: string;
  readers: number;
  /** Of the gateway or of the bare server, when nobody is there, when all are parked, and when events have reached them. */
  bytes: { atStart: number; parked: number; afterEvents: number };
  /** What the kernel takes for its end of the connections, while all are parked. */
  kernelBytes: number;
  /** Why not all of these were measured. */
  failure?: string;
}

/** What parked readers need. */
export interface ParkedTable {
  /** All on one timeline. */
  shared: ParkedMemory;
  /** Each on a timeline of its own, and so with an upstream connection of its own. */
  own: ParkedMemory;
}

export interface MemoryTable extends ParkedTable {
  /** The least that a Node server needs which shares reads, and one that also does what the contract asks. */
  bare: ParkedTable;
  duties: ParkedTable;
  /** The gateway that is to collect reads while they are young. */
  largeYoung: ParkedTable;
  /** One gateway, one step after the other. */
  steps: MemoryStep[];
}

/** Measures the memory of parked readers, and whether memory grows with the number of requests. */
export async function measureMemory(context: BenchContext): Promise<MemoryTable> {
  return {
    ...(await parkedAt(context, gateway())),
    bare: await parkedAt(context, bareShared),
    duties: await parkedAt(context, dutifulShared),
    largeYoung: await parkedAt(context, largeYoungGateway),
    steps: await steps(context),
  };
}

async function parkedAt(context: BenchContext, contender: Contender): Promise<ParkedTable> {
  const most = Math.max(...context.options.readers);
  const half = Math.min(Math.ceil(most / 2), Math.floor(DESCRIPTORS / 4));
  return {
    shared: await parked(context, contender, most, 'on one timeline', onOneTimeline),
    own: await parked(context, contender, half, 'each on its own', onOwnTimelines),
  };
}

interface Readers {
  store: Store;
  running: RunningContender & { pid: number };
  readers: number;
  events: number;
  onParked: () => Promise<void>;
  onDelivered: () => Promise<void>;
}

function parked(
  { options, say }: BenchContext,
  contender: Contender,
  readers: number,
  where: string,
  read: (readers: Readers) => Promise<void>,
): Promise<ParkedMemory> {
  return withStarted(async (started) => {
    const store = started.add(await startStore());
    const { pid, ...rest } = started.add(await contender.start(store.streamsUrl));
    if (pid === undefined) throw new Error(`${contender.label} has no process`);
    const running = { ...rest, pid };
    const bytes = { atStart: await residentBytes(pid), parked: 0, afterEvents: 0 };
    const kernelBefore = await kernelBytes();
    let forSockets = 0;
    let failure: string | undefined;
    try {
      await read({
        store,
        running,
        readers,
        events: Math.min(EVENTS, options.events),
        onParked: async () => {
          bytes.parked = await residentBytes(running.pid);
          forSockets = ((await kernelBytes()) - kernelBefore) / 2;
        },
        onDelivered: async () => {
          bytes.afterEvents = await residentBytes(running.pid);
        },
      });
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      say(`${contender.label}, ${readers} parked reads: ${failure}`);
    }
    say(
      `${contender.label}, ${readers} parked reads, ${where}: ${mib(bytes.parked)}, after events ${mib(bytes.afterEvents)}, at the start ${mib(bytes.atStart)}`,
    );
    const { label } = contender;
    return {
      label,
      readers,
      bytes,
      kernelBytes: forSockets,
      ...(failure !== undefined && { failure }),
    };
  });
}

async function onOneTimeline(plan: Readers): Promise<void> {
  await deliver(plan);
}

async function onOwnTimelines(plan: Readers): Promise<void> {
  const { store, running, readers, events } = plan;
  const paths = Array.from(
    { length: readers },
    (_, n) => `/t/default/agents/chat/own-${n}/timeline`,
  );
  const offsets = await eachOf(paths, (path) => createStream(store.streamsUrl + path));
  const timelines = followOwnTimelines({
    url: running.url,
    streamPaths: paths,
    offset: offsets[0] ?? '-1',
  });
  const untilParked = async (afterEvents: number): Promise<void> => {
    const reads = (afterEvents + 1) * readers;
    await untilCounted(reads, () => store.reads(), 'reads have come to the store');
    await settle([running.pid, store.pid]);
  };
  try {
    await untilParked(0);
    await plan.onParked();
    for (let seq = 0; seq < events; seq++) {
      const event = { seq, text: 'x'.repeat(200) };
      await eachOf(paths, (path) => append(store.streamsUrl + path, event));
      await timelines.received(seq + 1);
      await untilParked(seq + 1);
    }
    await plan.onDelivered();
  } finally {
    timelines.stop();
  }
}

/** Runs `act` for the items in order, `AT_ONCE` at a time. */
async function eachOf<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(act))));
  }
  return results;
}

function steps({ options, say }: BenchContext): Promise<MemoryStep[]> {
  return withStarted(async (started) => {
    const upstream = started.add(await startNginxUpstream(options.largeBytes));
    const running = started.add(
      await startGateway({ env: { GATEWAY_HISTORY_URL: upstream.streamsUrl } }),
    );
    const large = running.url + LARGE_STREAM;
    const done: MemoryStep[] = [];
    const step = async (name: string, run: () => Promise<void>): Promise<void> => {
      done.push(await measureStep(running, name, run));
      const last = done.at(-1);
      if (last) say(`${name}: at most ${mib(last.peakBytes)}, after it ${mib(last.afterBytes)}`);
    };
    const requests = (count: number) => (): Promise<void> => readShort(running.url, count);
    const quarter = Math.ceil(options.shortRequests / 4);
    // As many as of each quarter: V8 lets its heap grow for the first hundred thousand.
    await step('warm-up, short requests', requests(quarter));
    await step(`a body of ${mib(upstream.largeBytes)}`, async () => {
      await download(large, upstream.largeBytes);
    });
    await step('a reader that stops in the middle of it', () => stall(large, STALL_MS));
    for (let at = 1; at <= 4; at++) {
      await step(`${(at * quarter).toLocaleString('en-US')} short requests`, requests(quarter));
    }
    return done;
  });
}

/** Reads 1 KiB at least this many times. */
async function readShort(url: string, count: number): Promise<void> {
  for (let done = 0; done < count;) {
    const result = await loadReads({ url, connections: 64, seconds: 1, distinctUrls: 20_000 });
    if (result.errors > 0) throw new Error(`${result.errors} short requests went wrong`);
    done += result.requests;
  }
}

async function measureStep(
  { pid }: RunningGateway,
  name: string,
  run: () => Promise<void>,
): Promise<MemoryStep> {
  const peakBytes = await peakResidentBytes(pid, run);
  await settle([pid]);
  return { name, peakBytes, afterBytes: await residentBytes(pid) };
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MiB`;
}
