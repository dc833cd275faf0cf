import type { RunningContender } from '../contenders/contender.ts';
import { startFollowers, type Live } from '../load/followers.ts';
import { untilConnected } from '../measure/connections.ts';
import { groupCpuMs } from '../measure/cpu-time.ts';
import { untilCounted } from '../measure/until-counted.ts';
import { settle } from '../measure/settle.ts';
import { quantile } from '../measure/statistics.ts';
import { append, createStream, type Store } from '../upstreams/store.ts';

const EVENT_TEXT = 'x'.repeat(200);

export interface DeliveryPlan {
  store: Store;
  running: RunningContender;
  readers: number;
  events: number;
  live?: Live;
  /** Called once all readers are parked, and again when all events are delivered. */
  onParked?: () => Promise<void>;
  onDelivered?: () => Promise<void>;
}

export interface Delivery {
  p50Ms: number;
  p99Ms: number;
  /** Requests that the store got for the readers to park. */
  storeRequestsToPark: number;
  storeRequestsPerEvent: number;
  /** Microseconds for one event to one reader. */
  contenderCpuUs: number;
  storeCpuUs: number;
}

let streams = 0;

/** Parks readers on a new timeline and appends events. It appends each event once all readers have the one before. */
export async function deliver(plan: DeliveryPlan): Promise<Delivery> {
  const { store, running, readers, events, live = 'long-poll' } = plan;
  const streamPath = `/t/default/agents/chat/fan-out-${streams++}/timeline`;
  const streamUrl = store.streamsUrl + streamPath;
  const offset = await createStream(streamUrl);
  const readsBefore = await store.reads();
  const readsToPark = running.sharingProcesses ?? readers;
  const followers = startFollowers({ url: running.url, streamPath, offset, readers, live });
  const atRest = (): Promise<void> => settle([running.pid, store.pid, followers.pid]);
  const used = async (): Promise<Used> => ({
    contenderCpuMs: await groupCpuMs(running.pid),
    storeCpuMs: await groupCpuMs(store.pid),
    storeReads: await store.reads(),
  });
  try {
    await untilConnected(running.url, readers);
    await untilRead(store, readsBefore + readsToPark);
    await atRest();
    await plan.onParked?.();
    const before = await used();
    const delaysMs: number[] = [];
    for (let seq = 0; seq < events; seq++) {
      const atUs = Number(process.hrtime.bigint() / 1000n);
      const event = { seq, atUs, text: EVENT_TEXT };
      const [delays] = await Promise.all([followers.delivered(seq), append(streamUrl, event)]);
      delaysMs.push(...delays);
      // An event stream simply continues.
      if (live === 'long-poll') await untilRead(store, readsBefore + (seq + 2) * readsToPark);
      await atRest();
    }
    await plan.onDelivered?.();
    const storeRequestsToPark = before.storeReads - readsBefore;
    return { storeRequestsToPark, ...outcome(delaysMs, before, await used(), events) };
  } finally {
    await followers.stop();
    await settle([running.pid, store.pid]);
  }
}

/**
 * Waits until the store has got so many reads. While the kernel knocks once more at a queue that was full,
 * every process is at rest.
 */
function untilRead(store: Store, reads: number): Promise<void> {
  return untilCounted(reads, () => store.reads(), 'reads have come to the store');
}

interface Used {
  contenderCpuMs: number;
  storeCpuMs: number;
  storeReads: number;
}

function outcome(
  delaysMs: number[],
  before: Used,
  after: Used,
  events: number,
): Omit<Delivery, 'storeRequestsToPark'> {
  const usPerDelivery = (ms: number): number => (ms * 1000) / delaysMs.length;
  return {
    p50Ms: quantile(delaysMs, 0.5),
    p99Ms: quantile(delaysMs, 0.99),
    storeRequestsPerEvent: (after.storeReads - before.storeReads) / events,
    contenderCpuUs: usPerDelivery(after.contenderCpuMs - before.contenderCpuMs),
    storeCpuUs: usPerDelivery(after.storeCpuMs - before.storeCpuMs),
  };
}
