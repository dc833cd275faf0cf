import { direct } from '../contenders/direct.ts';
import type { Contender } from '../contenders/contender.ts';
import { gateway } from '../contenders/gateway.ts';
import { startLineUp, type StartedContender } from '../contenders/line-up.ts';
import { nginx } from '../contenders/nginx.ts';
import { DESCRIPTORS } from '../descriptors.ts';
import { startFollowers } from '../load/followers.ts';
import { groupCpuMs } from '../measure/cpu-time.ts';
import { interleave } from '../measure/interleave.ts';
import { settle } from '../measure/settle.ts';
import { quantile, spread, type Spread } from '../measure/statistics.ts';
import { append, createStream, startStore, type Store } from '../upstreams/store.ts';
import type { BenchContext } from './context.ts';

const EVENTS = 20;
const WARM_UP_EVENTS = 5;
const WARM_UP_READERS = 200;
const EVENT_TEXT = 'x'.repeat(200);

/** One contender with one number of readers. */
export interface FanOutRow {
  id: string;
  label: string;
  readers: number;
  /** From just before the append to the whole answer at a reader. */
  p50Ms: Spread;
  p99Ms: Spread;
  /** Requests that the history store got for one event, whoever reads it. */
  storeRequestsPerEvent: Spread;
  /** Processor time, in microseconds, for one event to one reader. */
  contenderCpuUs: Spread;
  storeCpuUs: Spread;
}

export interface FanOutTable {
  rows: FanOutRow[];
  missing: string[];
}

/** Many readers parked on one timeline of the real history store, and events that reach them all. */
export async function measureFanOut(context: BenchContext): Promise<FanOutTable> {
  const { say, options } = context;
  const store = await startStore();
  try {
    const lineUp = await startLineUp(context.chosen(contenders(context)), store.streamsUrl);
    const missing = [...lineUp.missing];
    try {
      for (const contender of lineUp.contenders) {
        await deliver(store, contender, WARM_UP_READERS, WARM_UP_EVENTS);
      }
      const rows: FanOutRow[] = [];
      for (const readers of options.readers) {
        const able = lineUp.contenders.filter(({ id, label }) => {
          const isAble = id !== 'gateway-unshared' || needs(readers) <= DESCRIPTORS;
          if (!isAble)
            missing.push(`${label}, ${readers} readers: the limit of ${DESCRIPTORS} open files`);
          return isAble;
        });
        const measured = await interleave(able, options.rounds, async (contender, round) => {
          const result = await deliver(store, contender, readers, EVENTS);
          say(
            `${readers} readers, round ${round + 1}: ${contender.label} p99 ${result.p99Ms.toFixed(1)} ms`,
          );
          return result;
        });
        rows.push(...able.map(({ id, label }) => row(id, label, readers, measured.get(id) ?? [])));
      }
      return { rows, missing };
    } finally {
      await lineUp.stop();
    }
  } finally {
    await store.stop();
  }
}

function contenders({ options, gatewayNodeArgs }: BenchContext): Contender[] {
  const most = Math.max(...options.readers);
  // Two connections a reader and its process's open files are limited: then it takes more processes.
  const workers = Math.ceil(needs(most) / DESCRIPTORS);
  return [
    gateway({ nodeArgs: gatewayNodeArgs('fan-out') }),
    nginx(workers),
    gateway({
      id: 'gateway-unshared',
      label: 'agent gateway, sharing off',
      env: { GATEWAY_SHARED_READS: 'false' },
    }),
    direct,
  ];
}

/** Open files of a proxy that opens a connection upstream for each reader. */
function needs(readers: number): number {
  return 2 * readers + 100;
}

interface Delivery {
  p50Ms: number;
  p99Ms: number;
  storeRequestsPerEvent: number;
  contenderCpuUs: number;
  storeCpuUs: number;
}

let streams = 0;

async function deliver(
  store: Store,
  { running }: StartedContender,
  readers: number,
  events: number,
): Promise<Delivery> {
  const streamPath = `/t/default/agents/chat/fan-out-${streams++}/timeline`;
  const streamUrl = store.streamsUrl + streamPath;
  const offset = await createStream(streamUrl);
  const followers = startFollowers({ url: running.url, streamPath, offset, readers });
  const atRest = (): Promise<void> => settle([running.pid, store.pid, followers.pid]);
  const used = (pid: number | undefined): Promise<number> =>
    pid === undefined ? Promise.resolve(0) : groupCpuMs(pid);
  try {
    await atRest();
    const before = [await used(running.pid), await used(store.pid), await store.reads()] as const;
    const delaysMs: number[] = [];
    for (let seq = 0; seq < events; seq++) {
      const atUs = Number(process.hrtime.bigint() / 1000n);
      const event = { seq, atUs, text: EVENT_TEXT };
      const [delays] = await Promise.all([followers.delivered(seq), append(streamUrl, event)]);
      delaysMs.push(...delays);
      await atRest();
    }
    const deliveries = events * readers;
    return {
      p50Ms: quantile(delaysMs, 0.5),
      p99Ms: quantile(delaysMs, 0.99),
      contenderCpuUs: (((await used(running.pid)) - before[0]) * 1000) / deliveries,
      storeCpuUs: (((await used(store.pid)) - before[1]) * 1000) / deliveries,
      storeRequestsPerEvent: ((await store.reads()) - before[2]) / events,
    };
  } finally {
    await followers.stop();
    await settle([running.pid, store.pid]);
  }
}

function row(id: string, label: string, readers: number, all: readonly Delivery[]): FanOutRow {
  const of = (pick: (each: Delivery) => number): Spread => spread(all.map(pick));
  return {
    id,
    label,
    readers,
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    storeRequestsPerEvent: of(({ storeRequestsPerEvent }) => storeRequestsPerEvent),
    contenderCpuUs: of(({ contenderCpuUs }) => contenderCpuUs),
    storeCpuUs: of(({ storeCpuUs }) => storeCpuUs),
  };
}
