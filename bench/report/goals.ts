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
  /** The same value of a bare Node server, which does nothing else: the limit of the platform. Empty without one. */
  bare: string;
  /** The same of a bare Node server that also does what the contract asks of every read. Empty without one. */
  duties: string;
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

/** The value of the gateway, and those of the bare servers if there are any for this goal. */
interface Values {
  gateway: number;
  bare?: number;
  duties?: number;
}

function atLeast(what: string, least: number, { gateway, bare, duties }: Values): Goal {
  return {
    what,
    asked: `at least ${least}`,
    measured: short(gateway),
    isReached: Number.isNaN(gateway) ? undefined : gateway >= least,
    bare: ofBare(bare),
    duties: ofBare(duties),
  };
}

function atMost(what: string, most: number, { gateway, bare, duties }: Values, unit = ''): Goal {
  return {
    what,
    asked: `at most ${most}${unit}`,
    measured: short(gateway) + unit,
    isReached: Number.isNaN(gateway) ? undefined : gateway <= most,
    bare: ofBare(bare, unit),
    duties: ofBare(duties, unit),
  };
}

function ofBare(value = Number.NaN, unit = ''): string {
  return Number.isNaN(value) ? '' : short(value) + unit;
}

/** Goals exist for those numbers of connections at which every contender was measured. */
function levels({ rows }: ReadsTable): number[] {
  return [64, 512].filter((connections) => rows.some((row) => row.connections === connections));
}

function plainGoals(upstream: string, table: ReadsTable): Goal[] {
  return levels(table).flatMap((connections) => {
    const what = `plain reads, ${connections} connections, ${upstream} upstream`;
    const comparedWith = (other: string): Values => ({
      gateway: ratio(table, connections, 'gateway', other),
      bare: ratio(table, connections, 'bare-sockets', other),
      duties: ratio(table, connections, 'dutiful-sockets', other),
    });
    return [
      atLeast(`${what}: rate ÷ nginx`, 0.4, comparedWith('nginx')),
      atLeast(`${what}: rate ÷ @fastify/http-proxy`, 1.3, comparedWith('fastify-http-proxy')),
    ];
  });
}

function ratio(table: ReadsTable, connections: number, one: string, other: string): number {
  return rateOf(table, one, connections) / rateOf(table, other, connections);
}

function tokenGoals({ rows }: Measurements['tokens']): Goal[] {
  const rate = (tokens: number): number =>
    rows.find((row) => row.tokens === tokens)?.requestsPerSecond.median ?? Number.NaN;
  return [12_000, 40_000].map((tokens) =>
    atLeast(`plain reads with ${count(tokens)} read tokens: rate ÷ with an API key`, 0.8, {
      gateway: rate(tokens) / rate(0),
    }),
  );
}

function sameUrlGoals({ node, nginx, store }: Measurements['same-url']): Goal[] {
  const goalsOf = (table: ReadsTable, upstream: string, least: number): Goal[] =>
    levels(table).map((connections) =>
      atLeast(`one URL, ${connections} connections, ${upstream}: rate ÷ nginx`, least, {
        gateway: ratio(table, connections, 'gateway', 'nginx'),
        bare: ratio(table, connections, 'bare-shared', 'nginx'),
        duties: ratio(table, connections, 'dutiful-shared', 'nginx'),
      }),
    );
  return [
    ...goalsOf(node, 'Node upstream', 0.7),
    ...goalsOf(nginx, 'nginx upstream', 0.7),
    ...goalsOf(store, 'real store', 3),
  ];
}

function fanOutGoals(gateway: FanOutRow, _: number, rows: FanOutRow[]): Goal[] {
  const { id, live, readers } = gateway;
  const [nginx, bare, duties] = ['nginx', 'bare-shared', 'dutiful-shared'].map((each) =>
    rows.find((row) => row.id === each && row.live === live && row.readers === readers),
  );
  if (id !== 'gateway' || live !== 'long-poll' || !nginx) return [];
  const what = `fan-out to ${count(gateway.readers)} readers`;
  const comparedWithNginx = (value: (row: FanOutRow) => number): Values => ({
    gateway: value(gateway) / value(nginx),
    ...(bare && { bare: value(bare) / value(nginx) }),
    ...(duties && { duties: value(duties) / value(nginx) }),
  });
  return [
    atMost(`${what}: requests to the store an event`, 1, {
      gateway: gateway.storeRequestsPerEvent.median,
    }),
    atMost(
      `${what}: CPU with the store ÷ nginx with the store`,
      0.4,
      comparedWithNginx(
        ({ contenderCpuUs, storeCpuUs }) => contenderCpuUs.median + storeCpuUs.median,
      ),
    ),
    atMost(
      `${what}: p99 ÷ nginx`,
      0.7,
      comparedWithNginx(({ p99Ms }) => p99Ms.median),
    ),
  ];
}

function memoryGoals({ shared, own, bare, duties, steps }: Measurements['memory']): Goal[] {
  const [warm, ...later] = steps;
  const most = Math.max(...later.map(({ afterBytes }) => afterBytes));
  return [
    parkedGoal('on one timeline', MAX_SHARED_BYTES, [shared, bare.shared, duties.shared]),
    parkedGoal('each on its own timeline', MAX_OWN_BYTES, [own, bare.own, duties.own]),
    atMost(
      'memory: most at rest after 1 GiB, a slow reader and a million requests ÷ after the warm-up',
      FLAT_RATIO,
      { gateway: most / (warm?.afterBytes ?? Number.NaN) },
    ),
  ];
}

/** Memory after events, because each event leaves the garbage of all reads that it answered. */
function parkedGoal(
  where: string,
  mostBytes: number,
  [parked, ...limits]: [gateway: ParkedMemory, bare: ParkedMemory, duties: ParkedMemory],
): Goal {
  const { afterEvents } = parked.bytes;
  const isMeasured = parked.failure === undefined;
  const [bare = '', duties = ''] = limits.map(({ bytes, failure }) =>
    failure === undefined ? mebibytes(bytes.afterEvents) : '',
  );
  return {
    what: `memory: ${count(parked.readers)} parked readers ${where}, after events`,
    asked: `at most ${mebibytes(mostBytes)}`,
    measured: isMeasured ? mebibytes(afterEvents) : '–',
    isReached: isMeasured ? afterEvents <= mostBytes : undefined,
    bare,
    duties,
  };
}

function largeBodyGoals({ rows }: Measurements['large-body']): Goal[] {
  const speed = (id: string): number =>
    rows.find((row) => row.id === id)?.mibPerSecond.median ?? Number.NaN;
  return [
    atLeast('a body of 1 GiB: speed ÷ nginx', 0.7, {
      gateway: speed('gateway') / speed('nginx'),
      bare: speed('bare-undici') / speed('nginx'),
    }),
  ];
}

function commandGoals({ rows, instant }: Measurements['commands']): Goal[] {
  const row = (id: string, connections: number) =>
    rows.find((each) => each.id === id && each.connections === connections);
  // The bare server of commands is one of Nest, which the design of the gateway asks for.
  const each = (value: (id: string) => number): Values => ({
    gateway: value('gateway'),
    bare: value('nest'),
    duties: value('dutiful-nest'),
  });
  const rate = (id: string): number => row(id, 32)?.commandsPerSecond.median ?? Number.NaN;
  const p50 = (id: string): number => row(id, 1)?.p50Ms.median ?? Number.NaN;
  const instantUs = (way: string): number =>
    instant.find(({ id }) => id === way)?.cpuUsPerCommand?.median ?? Number.NaN;
  return [
    atLeast(
      'commands, 32 at once: rate ÷ direct',
      0.55,
      each((id) => rate(id) / rate('direct')),
    ),
    atLeast(
      'commands, 32 at once: rate ÷ bare Node and undici',
      0.9,
      each((id) => rate(id) / rate('bare-undici')),
    ),
    atMost(
      'commands, one at a time: added at the median',
      0.3,
      each((id) => p50(id) - p50('direct')),
      ' ms',
    ),
    atMost(
      'commands, 32 at once, instant upstream: processor time of the gateway for one',
      100,
      each(instantUs),
      ' µs',
    ),
  ];
}

function startGoals({ firstAnswerMs }: Measurements['start']): Goal[] {
  return [atMost('start to the first answer', 500, { gateway: firstAnswerMs.median }, ' ms')];
}
