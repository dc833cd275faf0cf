import type { Measurements } from '../results.ts';
import type { FanOutRow } from '../scenarios/fan-out.ts';
import type { ParkedMemory } from '../scenarios/memory.ts';
import type { ReadsTable } from '../scenarios/reads.ts';
import { count, mebibytes, short } from './format.ts';
import { rateOf } from './reads-tables.ts';

/** A goal of the gateway and its measured value. */
export interface Goal {
  what: string;
  asked: string;
  measured: string;
  /** Undefined where there is nothing to compare with. */
  isReached: boolean | undefined;
}

type Measured = Partial<Measurements>;

const MAX_SHARED_BYTES = 400 * 1_048_576;
const MAX_OWN_BYTES = 350 * 1_048_576;
/** An allocator keeps some freed memory, which is no leak. So a quarter more than after the warm-up is allowed. */
const FLAT_RATIO = 1.25;

/** The goals of all parts that were measured. */
export function goals(measured: Measured): Goal[] {
  return [
    ...(measured.plain ? plainGoals('Node', measured.plain.node) : []),
    ...(measured.plain ? plainGoals('nginx', measured.plain.nginx) : []),
    ...(measured.tokens ? tokenGoals(measured.tokens) : []),
    ...(measured['same-url'] ? sameUrlGoals(measured['same-url']) : []),
    ...(measured['fan-out'] ? measured['fan-out'].rows.flatMap(fanOutGoals) : []),
    ...(measured.memory ? memoryGoals(measured.memory) : []),
    ...(measured['large-body'] ? largeBodyGoals(measured['large-body']) : []),
    ...(measured.commands ? commandGoals(measured.commands) : []),
    ...(measured.start ? startGoals(measured.start) : []),
  ];
}

function atLeast(what: string, least: number, ratio: number): Goal {
  return {
    what,
    asked: `at least ${least}`,
    measured: short(ratio),
    isReached: Number.isNaN(ratio) ? undefined : ratio >= least,
  };
}

function atMost(what: string, most: number, value: number, unit = ''): Goal {
  return {
    what,
    asked: `at most ${most}${unit}`,
    measured: short(value) + unit,
    isReached: Number.isNaN(value) ? undefined : value <= most,
  };
}

/** Goals exist for those numbers of connections at which every contender was measured. */
function levels({ rows }: ReadsTable): number[] {
  return [64, 512].filter((connections) => rows.some((row) => row.connections === connections));
}

function plainGoals(upstream: string, table: ReadsTable): Goal[] {
  return levels(table).flatMap((connections) => {
    const gateway = rateOf(table, 'gateway', connections);
    const what = `plain reads, ${connections} connections, ${upstream} upstream`;
    return [
      atLeast(`${what}: rate ÷ nginx`, 0.4, gateway / rateOf(table, 'nginx', connections)),
      atLeast(
        `${what}: rate ÷ @fastify/http-proxy`,
        1.3,
        gateway / rateOf(table, 'fastify-http-proxy', connections),
      ),
    ];
  });
}

function tokenGoals({ rows }: Measurements['tokens']): Goal[] {
  const rate = (tokens: number): number =>
    rows.find((row) => row.tokens === tokens)?.requestsPerSecond.median ?? Number.NaN;
  return [12_000, 40_000].map((tokens) =>
    atLeast(
      `plain reads with ${count(tokens)} read tokens: rate ÷ with an API key`,
      0.8,
      rate(tokens) / rate(0),
    ),
  );
}

function sameUrlGoals({ node, nginx, store }: Measurements['same-url']): Goal[] {
  const ratio = (table: ReadsTable, connections: number): number =>
    rateOf(table, 'gateway', connections) / rateOf(table, 'nginx', connections);
  return [
    ...levels(node).map((connections) =>
      atLeast(
        `one URL, ${connections} connections, Node upstream: rate ÷ nginx`,
        0.7,
        ratio(node, connections),
      ),
    ),
    ...levels(nginx).map((connections) =>
      atLeast(
        `one URL, ${connections} connections, nginx upstream: rate ÷ nginx`,
        0.7,
        ratio(nginx, connections),
      ),
    ),
    ...levels(store).map((connections) =>
      atLeast(
        `one URL, ${connections} connections, real store: rate ÷ nginx`,
        3,
        ratio(store, connections),
      ),
    ),
  ];
}

function fanOutGoals(gateway: FanOutRow, _: number, rows: FanOutRow[]): Goal[] {
  const { id, live, readers } = gateway;
  const nginx = rows.find(
    (row) => row.id === 'nginx' && row.live === live && row.readers === readers,
  );
  if (id !== 'gateway' || live !== 'long-poll' || !nginx) return [];
  const cpuUs = ({ contenderCpuUs, storeCpuUs }: FanOutRow): number =>
    contenderCpuUs.median + storeCpuUs.median;
  const what = `fan-out to ${count(gateway.readers)} readers`;
  return [
    atMost(`${what}: requests to the store an event`, 1, gateway.storeRequestsPerEvent.median),
    atMost(
      `${what}: CPU with the store ÷ nginx with the store`,
      0.4,
      cpuUs(gateway) / cpuUs(nginx),
    ),
    atMost(`${what}: p99 ÷ nginx`, 0.7, gateway.p99Ms.median / nginx.p99Ms.median),
  ];
}

function memoryGoals({ shared, own, steps }: Measurements['memory']): Goal[] {
  const [warm, ...later] = steps;
  const most = Math.max(...later.map(({ afterBytes }) => afterBytes));
  return [
    parkedGoal('on one timeline', shared, MAX_SHARED_BYTES),
    parkedGoal('each on its own timeline', own, MAX_OWN_BYTES),
    atMost(
      'memory: most at rest after 1 GiB, a slow reader and a million requests ÷ after the warm-up',
      FLAT_RATIO,
      most / (warm?.afterBytes ?? Number.NaN),
    ),
  ];
}

/** Memory after events, because each event leaves the garbage of all reads that it answered. */
function parkedGoal(where: string, parked: ParkedMemory, mostBytes: number): Goal {
  const { afterEvents } = parked.bytes;
  const isMeasured = parked.failure === undefined;
  return {
    what: `memory: ${count(parked.readers)} parked readers ${where}, after events`,
    asked: `at most ${mebibytes(mostBytes)}`,
    measured: isMeasured ? mebibytes(afterEvents) : '–',
    isReached: isMeasured ? afterEvents <= mostBytes : undefined,
  };
}

function largeBodyGoals({ rows }: Measurements['large-body']): Goal[] {
  const speed = (id: string): number =>
    rows.find((row) => row.id === id)?.mibPerSecond.median ?? Number.NaN;
  return [atLeast('a body of 1 GiB: speed ÷ nginx', 0.7, speed('gateway') / speed('nginx'))];
}

function commandGoals({ rows, instant }: Measurements['commands']): Goal[] {
  const row = (id: string, connections: number) =>
    rows.find((each) => each.id === id && each.connections === connections);
  const ofInstant = instant.find(({ id }) => id === 'gateway');
  const rate = (id: string): number => row(id, 32)?.commandsPerSecond.median ?? Number.NaN;
  const p50 = (id: string): number => row(id, 1)?.p50Ms.median ?? Number.NaN;
  return [
    atLeast('commands, 32 at once: rate ÷ direct', 0.55, rate('gateway') / rate('direct')),
    atLeast(
      'commands, 32 at once: rate ÷ bare Node and undici',
      0.9,
      rate('gateway') / rate('bare-undici'),
    ),
    atMost(
      'commands, one at a time: added at the median',
      0.3,
      p50('gateway') - p50('direct'),
      ' ms',
    ),
    atMost(
      'commands, 32 at once, instant upstream: processor time of the gateway for one',
      100,
      ofInstant?.cpuUsPerCommand?.median ?? Number.NaN,
      ' µs',
    ),
  ];
}

function startGoals({ firstAnswerMs }: Measurements['start']): Goal[] {
  return [atMost('start to the first answer', 500, firstAnswerMs.median, ' ms')];
}
