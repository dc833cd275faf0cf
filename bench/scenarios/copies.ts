import type { Contender } from '../contenders/contender.ts';
import { gateway } from '../contenders/gateway.ts';
import { gatewayCopies } from '../contenders/gateway-copies.ts';
import { nginx } from '../contenders/nginx.ts';
import { interleave } from '../measure/interleave.ts';
import { groupMemoryBytes } from '../measure/memory.ts';
import type { Spread } from '../measure/statistics.ts';
import { summaryOf } from '../measure/summary.ts';
import { withStarted } from '../started.ts';
import { startNginxUpstream } from '../upstreams/nginx-upstream.ts';
import { startStore } from '../upstreams/store.ts';
import type { BenchContext } from './context.ts';
import { deliver } from './delivery.ts';
import { DISTINCT_URLS, instantRead } from './plain.ts';
import { measureReads, type ReadsTable } from './reads.ts';

/** Each number of processes is measured of the gateway and of nginx. */
const PROCESSES = [1, 2, 4];
const EVENTS = 10;

/** An event to readers that wait on one timeline of the real history store. */
export interface CopiesDeliveryRow {
  id: string;
  label: string;
  readers: number;
  p50Ms: Spread;
  p99Ms: Spread;
  /** Processor time of all processes of the contender, in microseconds, for one event to one reader. */
  cpuUs: Spread;
  /** Of all processes, when the readers are parked, and when events have reached them. Shared pages count once. */
  parkedBytes: Spread;
  afterEventsBytes: Spread;
  failure?: string;
}

export interface CopiesTable {
  reads: ReadsTable;
  delivery: CopiesDeliveryRow[];
}

/** Copies of the gateway on one port beside nginx with as many workers: what further cores can bring. */
export async function measureCopies(context: BenchContext): Promise<CopiesTable> {
  return { reads: await measureRates(context), delivery: await measureDelivery(context) };
}

function contenders(context: BenchContext): Contender[] {
  return PROCESSES.flatMap((processes) => [
    processes === 1
      ? gateway({ nodeArgs: context.gatewayNodeArgs('copies') })
      : gatewayCopies(processes),
    nginx({ workers: processes, id: `nginx-${processes}` }),
  ]);
}

function measureRates(context: BenchContext): Promise<ReadsTable> {
  return withStarted(async (started) => {
    const upstream = started.add(await startNginxUpstream());
    return measureReads(context, {
      streamsUrl: upstream.streamsUrl,
      contenders: contenders(context),
      expected: instantRead(upstream),
      distinctUrls: DISTINCT_URLS,
    });
  });
}

/** Each measurement has processes of its own: what memory one has kept does not count for the next. */
async function measureDelivery(context: BenchContext): Promise<CopiesDeliveryRow[]> {
  const { options, say } = context;
  const readers = options.eventStreams;
  const events = Math.min(EVENTS, options.events);
  const chosen = context.chosen(contenders(context));
  const series = await interleave(chosen, options.rounds, (contender, round) =>
    withStarted(async (started) => {
      const store = started.add(await startStore());
      const running = started.add(await contender.start(store.streamsUrl));
      const bytes = { parkedBytes: 0, afterEventsBytes: 0 };
      const { p50Ms, p99Ms, contenderCpuUs } = await deliver({
        store,
        running,
        readers,
        events,
        onParked: async () => {
          bytes.parkedBytes = await groupMemoryBytes(running.pid);
        },
        onDelivered: async () => {
          bytes.afterEventsBytes = await groupMemoryBytes(running.pid);
        },
      });
      say(`${readers} readers, round ${round + 1}: ${contender.label} p99 ${p99Ms.toFixed(1)} ms`);
      return { p50Ms, p99Ms, cpuUs: contenderCpuUs, ...bytes };
    }),
  );
  return chosen.map(({ id, label }) => ({
    id,
    label,
    readers,
    ...summaryOf(series.get(id), ['p50Ms', 'p99Ms', 'cpuUs', 'parkedBytes', 'afterEventsBytes']),
  }));
}
