import { startGateway, type RunningGateway } from '../contenders/gateway.ts';
import { DESCRIPTORS } from '../descriptors.ts';
import { download, stall } from '../load/download.ts';
import { loadReads } from '../load/wrk.ts';
import { peakResidentBytes, residentBytes } from '../measure/memory.ts';
import { settle } from '../measure/settle.ts';
import { withStarted } from '../started.ts';
import { LARGE_STREAM, startNginxUpstream } from '../upstreams/nginx-upstream.ts';
import { startStore } from '../upstreams/store.ts';
import type { BenchContext } from './context.ts';
import { deliver } from './delivery.ts';

const STALL_MS = 3_000;
/** Enough that every reader was answered and has parked again a few times. */
const EVENTS = 5;

/** What the gateway held in memory, in bytes: the most during a step, and after it at rest. */
export interface MemoryStep {
  name: string;
  peakBytes: number;
  afterBytes: number;
}

/** Readers parked on one timeline. */
export interface ParkedMemory {
  readers: number;
  /** The gateway's, when nobody is there, when all are parked, and when events have reached them. */
  bytes: { atStart: number; parked: number; afterEvents: number };
  /** Why not all of these were measured. */
  failure?: string;
}

export interface MemoryTable {
  shared: ParkedMemory;
  unshared: ParkedMemory;
  /** One gateway, one step after the other. */
  steps: MemoryStep[];
}

/** What parked readers take, and whether anything grows with what went through. */
export async function measureMemory(context: BenchContext): Promise<MemoryTable> {
  const most = Math.max(...context.options.readers);
  return {
    shared: await parked(context, most, 'true'),
    // Each has a connection upstream, too, and a process may open so many files only.
    unshared: await parked(context, Math.min(most, Math.floor(DESCRIPTORS / 2.5)), 'false'),
    steps: await steps(context),
  };
}

function parked(
  { options, say }: BenchContext,
  readers: number,
  sharedReads: 'true' | 'false',
): Promise<ParkedMemory> {
  return withStarted(async (started) => {
    const store = started.add(await startStore());
    const env = { GATEWAY_HISTORY_URL: store.streamsUrl, GATEWAY_SHARED_READS: sharedReads };
    const running = started.add(await startGateway({ env }));
    const bytes = { atStart: await residentBytes(running.pid), parked: 0, afterEvents: 0 };
    const events = Math.min(EVENTS, options.events);
    const onParked = async (): Promise<void> => {
      bytes.parked = await residentBytes(running.pid);
    };
    const onDelivered = async (): Promise<void> => {
      bytes.afterEvents = await residentBytes(running.pid);
    };
    let failure: string | undefined;
    try {
      await deliver({ store, running, readers, events, onParked, onDelivered });
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      say(`${readers} parked reads: ${failure}`);
    }
    const sharing = sharedReads === 'true' ? 'shared' : 'not shared';
    say(
      `${readers} parked reads, ${sharing}: ${mib(bytes.parked)}, at the start ${mib(bytes.atStart)}`,
    );
    return { readers, bytes, ...(failure !== undefined && { failure }) };
  });
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

/** At least so many reads of 1 KiB. */
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
