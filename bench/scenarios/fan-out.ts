import type { Contender } from '../contenders/contender.ts';
import { direct } from '../contenders/direct.ts';
import { gateway, largeYoungGateway } from '../contenders/gateway.ts';
import { startLineUp } from '../contenders/line-up.ts';
import { nginx } from '../contenders/nginx.ts';
import { bareShared, dutifulShared } from '../contenders/node-peer.ts';
import { DESCRIPTORS } from '../descriptors.ts';
import type { Live } from '../load/followers.ts';
import { interleave } from '../measure/interleave.ts';
import type { Spread } from '../measure/statistics.ts';
import { summaryOf } from '../measure/summary.ts';
import { withStarted } from '../started.ts';
import { startStore } from '../upstreams/store.ts';
import type { BenchContext } from './context.ts';
import { deliver } from './delivery.ts';

/** Enough for Node to compile the hot code: the processor time of an event falls over the first 40,000 responses. */
const WARM_UP = { readers: 2_000, events: 30 };
/** The contenders that goals name, the limit of Node, and that of the gateway with more memory. The others are measured only with the fewest readers. */
const OF_THE_GOALS = ['gateway', largeYoungGateway.id, 'nginx', bareShared.id, dutifulShared.id];
/** Those that pass an event stream on before its end. */
const OF_EVENT_STREAMS = ['gateway', 'nginx'];

const MEASURED = [
  'p50Ms',
  'p99Ms',
  'storeRequestsToPark',
  'storeRequestsPerEvent',
  'contenderCpuUs',
  'storeCpuUs',
] as const;

/** The result of one contender with one number of readers. */
export interface FanOutRow {
  id: string;
  label: string;
  readers: number;
  live: Live;
  /** From just before the append to the whole answer at a reader. */
  p50Ms: Spread;
  p99Ms: Spread;
  /** Requests that the history store got for all readers to park. */
  storeRequestsToPark: Spread;
  /** Requests that the history store got for one event, whoever reads it. */
  storeRequestsPerEvent: Spread;
  /** Processor time, in microseconds, for one event to one reader. */
  contenderCpuUs: Spread;
  storeCpuUs: Spread;
  failure?: string;
}

export interface FanOutTable {
  rows: FanOutRow[];
  missing: string[];
}

/** Many readers parked on one timeline of the real history store, and events that reach them all. */
export function measureFanOut(context: BenchContext): Promise<FanOutTable> {
  return withStarted(async (started) => {
    const { say, options } = context;
    const store = started.add(await startStore());
    const lineUp = await startLineUp(
      started,
      context.chosen(line(context)),
      store.streamsUrl,
      async ({ running }) => {
        if (options.warmUpRequests > 0) await deliver({ store, running, ...WARM_UP });
      },
    );
    for (const reason of lineUp.missing) say(`left out: ${reason}`);
    const rows: FanOutRow[] = [];
    for (const { readers, live, ids } of occasions(context)) {
      const measured = lineUp.contenders.filter(({ id }) => ids?.includes(id) ?? true);
      const series = await interleave(measured, options.rounds, async (contender, round) => {
        const { running, label } = contender;
        const { events } = options;
        const result = await deliver({ store, running, readers, events, live });
        const p99 = result.p99Ms.toFixed(1);
        say(`${readers} readers, ${live}, round ${round + 1}: ${label} p99 ${p99} ms`);
        return result;
      });
      for (const { id, label } of measured) {
        rows.push({ id, label, readers, live, ...summaryOf(series.get(id), MEASURED) });
      }
    }
    return { rows, missing: lineUp.missing };
  });
}

interface Occasion {
  readers: number;
  live: Live;
  /** Of those measured; undefined for all. */
  ids?: readonly string[];
}

function occasions({ options }: BenchContext): Occasion[] {
  const fewest = Math.min(...options.readers);
  return [
    ...options.readers.map((readers): Occasion => {
      return { readers, live: 'long-poll', ...(readers !== fewest && { ids: OF_THE_GOALS }) };
    }),
    { readers: options.eventStreams, live: 'sse', ids: OF_EVENT_STREAMS },
  ];
}

function line({ options, gatewayNodeArgs }: BenchContext): Contender[] {
  const most = Math.max(...options.readers);
  // nginx opens a connection upstream for each reader, and a process may open so many files only.
  const workers = Math.ceil((2 * most + 100) / DESCRIPTORS);
  return [
    gateway({ nodeArgs: gatewayNodeArgs('fan-out') }),
    largeYoungGateway,
    nginx({ workers }),
    bareShared,
    dutifulShared,
    gateway({
      id: 'gateway-unshared',
      label: 'agent gateway, sharing off',
      env: { GATEWAY_SHARED_READS: 'false' },
    }),
    direct,
  ];
}
