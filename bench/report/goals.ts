import type { Measurements } from '../results.ts';
import type { FanOutRow } from '../scenarios/fan-out.ts';
import type { ReadsTable } from '../scenarios/reads.ts';
import { count, mebibytes, short } from './format.ts';

/** Something that the gateway is held to, and how it came out. */
export interface Goal {
  what: string;
  asked: string;
  measured: string;
  /** Undefined where there is nothing to compare with. */
  isReached: boolean | undefined;
}

type Measured = Partial<Measurements>;

const NODE_PROXIES = [
  'fastify-http-proxy',
  'fast-proxy',
  'http2-proxy',
  'http-proxy',
  'http-proxy-middleware',
];
const MAX_PARKED_BYTES = 400 * 1_048_576;
/** What an allocator keeps is no leak: a quarter more than after the warm-up. */
const FLAT_RATIO = 1.25;

/** The goals whose parts were measured. */
export function goals(measured: Measured): Goal[] {
  return [
    ...(measured.plain ? plainGoals(measured.plain.node) : []),
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

/** The numbers of connections that are goals are those at which all were measured. */
function levels({ rows }: ReadsTable): number[] {
  return [64, 512].filter((connections) => rows.some((row) => row.connections === connections));
}

function rateOf({ rows }: ReadsTable, id: string, connections: number): number {
  const row = rows.find((each) => each.id === id && each.connections === connections);
  return row?.requestsPerSecond.median ?? Number.NaN;
}

function plainGoals(table: ReadsTable): Goal[] {
  return levels(table).flatMap((connections) => {
    const gateway = rateOf(table, 'gateway', connections);
    const others = NODE_PROXIES.map((id) => rateOf(table, id, connections));
    const fastest = Math.max(...others.filter((rate) => !Number.isNaN(rate)));
    const what = `plain reads, ${connections} connections`;
    return [
      atLeast(`${what}: rate ÷ nginx`, 0.4, gateway / rateOf(table, 'nginx', connections)),
      atLeast(
        `${what}: rate ÷ @fastify/http-proxy`,
        1.3,
        gateway / rateOf(table, 'fastify-http-proxy', connections),
      ),
      atLeast(`${what}: rate ÷ the fastest of the other Node proxies`, 1, gateway / fastest),
    ];
  });
}

function sameUrlGoals({ node, store }: Measurements['same-url']): Goal[] {
  const ratio = (table: ReadsTable, connections: number): number =>
    rateOf(table, 'gateway', connections) / rateOf(table, 'nginx', connections);
  return [
    ...levels(node).map((connections) =>
      atLeast(
        `one URL, ${connections} connections, instant upstream: rate ÷ nginx`,
        0.7,
        ratio(node, connections),
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
      0.5,
      cpuUs(gateway) / cpuUs(nginx),
    ),
    atMost(`${what}: p99 ÷ nginx`, 0.7, gateway.p99Ms.median / nginx.p99Ms.median),
  ];
}

function memoryGoals({ shared, steps }: Measurements['memory']): Goal[] {
  const [warm, ...later] = steps;
  const most = Math.max(...later.map(({ afterBytes }) => afterBytes));
  const { parked, afterEvents } = shared.bytes;
  const isMeasured = shared.failure === undefined;
  return [
    {
      what: `memory: ${count(shared.readers)} parked reads (and after events have reached them)`,
      asked: `at most ${mebibytes(MAX_PARKED_BYTES)}`,
      measured: isMeasured ? `${mebibytes(parked)} (${mebibytes(afterEvents)})` : '–',
      isReached: isMeasured ? parked <= MAX_PARKED_BYTES : undefined,
    },
    atMost(
      'memory: most at rest after 1 GiB, a slow reader and a million requests ÷ after the warm-up',
      FLAT_RATIO,
      most / (warm?.afterBytes ?? Number.NaN),
    ),
  ];
}

function largeBodyGoals({ rows }: Measurements['large-body']): Goal[] {
  const speed = (id: string): number =>
    rows.find((row) => row.id === id)?.mibPerSecond.median ?? Number.NaN;
  return [atLeast('a body of 1 GiB: speed ÷ nginx', 0.7, speed('gateway') / speed('nginx'))];
}

function commandGoals({ rows }: Measurements['commands']): Goal[] {
  const row = (id: string, connections: number) =>
    rows.find((each) => each.id === id && each.connections === connections);
  const rate = (id: string): number => row(id, 32)?.commandsPerSecond.median ?? Number.NaN;
  const p50 = (id: string): number => row(id, 1)?.p50Ms.median ?? Number.NaN;
  return [
    atLeast('commands, 32 at once: rate ÷ direct', 0.55, rate('gateway') / rate('direct')),
    atMost(
      'commands, one at a time: added at the median',
      1,
      p50('gateway') - p50('direct'),
      ' ms',
    ),
  ];
}

function startGoals({ firstAnswerMs }: Measurements['start']): Goal[] {
  return [atMost('start to the first answer', 1_000, firstAnswerMs.median, ' ms')];
}
