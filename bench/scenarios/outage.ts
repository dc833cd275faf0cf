import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rejectWhenEnded, startProcess, type RunningProcess } from '../../local/stack/process.ts';
import type { RunningContender } from '../contenders/contender.ts';
import { gateway } from '../contenders/gateway.ts';
import { startLineUp } from '../contenders/line-up.ts';
import { nginx } from '../contenders/nginx.ts';
import type { Live } from '../load/followers.ts';
import { interleave } from '../measure/interleave.ts';
import { spread, type Spread } from '../measure/statistics.ts';
import { startCuttableNetwork, type CuttableNetwork } from '../network/cuttable-network.ts';
import { withStarted } from '../started.ts';
import { append, createStream, type Store, startStore } from '../upstreams/store.ts';
import type { BenchContext } from './context.ts';

const READERS_MAIN = join(import.meta.dirname, '../load/real-readers-main.ts');
/** The real client costs more than the readers of the other parts. */
const MOST_READERS = 500;
const OUTAGE_MS = 2_000;
const EVENT_EVERY_MS = 100;
const EVENTS_BEFORE = 5;
const EVENTS_AFTER = 5;
const TIMEOUT_MS = 120_000;

export interface OutageRow {
  id: string;
  label: string;
  live: Live;
  /**
   * From the end of the outage until a reader has all events that were appended before its end. The median reader of each
   * round, and the last one.
   */
  medianMs: Spread;
  lastMs: Spread;
  /** Readers, of all rounds, that have not got every event once and in order. */
  incompleteReaders: number;
  failure?: string;
}

export interface OutageTable {
  readers: number;
  outageMs: number;
  rows: OutageRow[];
  missing: string[];
}

/** Readers behind a network that drops everything for two seconds, while events are appended. */
export function measureOutage(context: BenchContext): Promise<OutageTable> {
  return withStarted(async (started) => {
    const { options, say } = context;
    const readers = Math.min(MOST_READERS, ...options.readers);
    const table: OutageTable = { readers, outageMs: OUTAGE_MS, rows: [], missing: [] };
    let network: CuttableNetwork;
    try {
      network = started.add(await startCuttableNetwork());
    } catch (error) {
      table.missing.push(error instanceof Error ? error.message : String(error));
      say(`left out: ${table.missing[0]}`);
      return table;
    }
    const store = started.add(await startStore());
    const host = network.address;
    const contenders = context.chosen([
      gateway({ host, nodeArgs: context.gatewayNodeArgs('outage') }),
      nginx({ host }),
    ]);
    const lineUp = await startLineUp(started, contenders, store.streamsUrl);
    table.missing.push(...lineUp.missing);
    for (const live of ['long-poll', 'sse'] as const) {
      const series = await interleave(lineUp.contenders, options.rounds, async (contender) => {
        const outage = await outlast({ store, network, readers, live, ...contender });
        say(`${live}: ${contender.label}: all live again after ${Math.round(outage.lastMs)} ms`);
        return outage;
      });
      for (const { id, label } of lineUp.contenders) {
        const { values = [], failure } = series.get(id) ?? {};
        table.rows.push({
          id,
          label,
          live,
          medianMs: spread(values.map(({ medianMs }) => medianMs)),
          lastMs: spread(values.map(({ lastMs }) => lastMs)),
          incompleteReaders: values.reduce((sum, { incomplete }) => sum + incomplete, 0),
          ...(failure !== undefined && { failure }),
        });
      }
    }
    return table;
  });
}

interface OutagePlan {
  store: Store;
  network: CuttableNetwork;
  running: RunningContender;
  readers: number;
  live: Live;
}

interface Outage {
  medianMs: number;
  lastMs: number;
  incomplete: number;
}

let streams = 0;

async function outlast({ store, network, running, readers, live }: OutagePlan): Promise<Outage> {
  const path = `/t/default/agents/chat/outage-${streams++}/timeline`;
  const offset = await createStream(store.streamsUrl + path);
  const [command, ...args] = [...network.atOtherEnd, process.execPath, READERS_MAIN];
  const load = startProcess({
    name: 'the readers',
    command,
    args: [...args, running.url + path, offset, live, String(readers)],
    env: { PATH: process.env.PATH },
    readable: (line) => (line.startsWith('DONE') ? undefined : line),
  });
  let seq = 0;
  const appendOne = (isLast = false): Promise<void> =>
    append(store.streamsUrl + path, { seq: seq++, isLast });
  const appendFor = async (events: number): Promise<void> => {
    for (const end = seq + events; seq < end; await sleep(EVENT_EVERY_MS)) await appendOne();
  };
  try {
    const ready = waitFor(load, 'READY');
    const done = waitFor(load, 'DONE ');
    done.catch(() => undefined);
    await appendOne();
    await ready;
    await appendFor(EVENTS_BEFORE);
    await network.drop();
    await appendFor(OUTAGE_MS / EVENT_EVERY_MS);
    await network.pass();
    const passedAtUs = Number(process.hrtime.bigint() / 1000n);
    const lastMissed = seq - 1;
    await appendFor(EVENTS_AFTER);
    await appendOne(true);
    const received = JSON.parse((await done).slice('DONE '.length)) as [number, number][][];
    return outcome(received, { events: seq, lastMissed, passedAtUs });
  } finally {
    // A failure must not leave the network cut for the next one.
    await network.pass();
    await load.kill();
  }
}

async function waitFor(load: RunningProcess, prefix: string): Promise<string> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    timeout.reject(new Error(`not all readers got every event in ${TIMEOUT_MS / 1000} s`));
  }, TIMEOUT_MS);
  const line = load.waitForLine((text) => text.startsWith(prefix));
  try {
    return await Promise.race([line, rejectWhenEnded(load), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function outcome(
  received: [seq: number, atUs: number][][],
  { events, lastMissed, passedAtUs }: { events: number; lastMissed: number; passedAtUs: number },
): Outage {
  const isComplete = (reader: [number, number][]): boolean =>
    reader.length === events && reader.every(([seq], at) => seq === at);
  const delaysMs = received.map((reader) => {
    const [, atUs] = reader.find(([seq]) => seq === lastMissed) ?? [0, Number.NaN];
    return (atUs - passedAtUs) / 1000;
  });
  const { median, max } = spread(delaysMs);
  return {
    medianMs: median,
    lastMs: max,
    incomplete: received.filter((reader) => !isComplete(reader)).length,
  };
}
