import { memoryPlan } from '../../src/platform/memory/memory-plan.ts';
import type { Measurements } from '../results.ts';
import { count, mebibytes, short, table } from './format.ts';

const MEMORY_BYTES = 512 * 1_048_576;

/** The resources of one pod that the sizing table assumes. */
const POD = {
  /** Of the one core that a pod can use: the rest is for bursts, and for a neighbour that failed. */
  coreShare: 0.7,
  memoryBytes: MEMORY_BYTES,
  /** GATEWAY_MAX_OPEN_READS as it follows from that memory. Node takes half of it for its heap. */
  openReads: memoryPlan(MEMORY_BYTES, MEMORY_BYTES / 2).maxOpenReads,
};
const READERS = 1_000_000;
/** The rates of events to each reader. */
const EVENTS_PER_SECOND = [0.01, 0.1, 1, 10];

interface Cost {
  cpuUsPerEvent: number;
  bytesPerReader: number;
  atStartBytes: number;
}

/** How many pods the measurements call for. Undefined unless fan-out and memory were measured. */
export function sizing(measured: Partial<Measurements>): string | undefined {
  const shared = cost(measured, 'gateway', 'shared');
  const own = cost(measured, 'gateway-unshared', 'own');
  if (!shared || !own) return undefined;
  const rows = EVENTS_PER_SECOND.map((eventsPerSecond) => {
    const many = readersPerPod(shared, eventsPerSecond);
    const one = readersPerPod(own, eventsPerSecond);
    return [eventText(eventsPerSecond), count(many), pods(many), count(one), pods(one)];
  });
  const head = [
    'events to each reader',
    'readers a pod, many to a timeline',
    'pods for a million',
    'readers a pod, each its own timeline',
    'pods for a million',
  ];
  return `A parked reader takes ${kib(shared)} of memory where many share a timeline, and ${kib(own)}
where each has its own, with its own connection to the store. To deliver an event takes the gateway
${short(shared.cpuUsPerEvent)} µs of processor time where many share a timeline, and
${short(own.cpuUsPerEvent)} µs where each has its own. So a pod that may use ${POD.coreShare * 100} % of one core and
${mebibytes(POD.memoryBytes)}, where \`GATEWAY_MAX_OPEN_READS\` is ${count(POD.openReads)} unless it is set, holds:

${table(head, rows)}`;
}

/** The numbers of cores of a machine. */
const CORES = [1, 2, 4, 8, 16];
const SECONDS_BETWEEN_EVENTS = 10;

/**
 * What machines carry with one copy of the gateway a core, by the processor time and memory that one copy needs.
 * Undefined unless fan-out and memory were measured.
 */
export function coresTable(measured: Partial<Measurements>): string | undefined {
  const polls = cost(measured, 'gateway', 'shared');
  const streams = measured['fan-out']?.rows.find(
    ({ id, live }) => id === 'gateway' && live === 'sse',
  );
  if (!polls || !streams) return undefined;
  const perSecond = (cores: number, cpuUs: number): number => (cores * POD.coreShare * 1e6) / cpuUs;
  const rows = CORES.map((cores) => {
    const byPolls = perSecond(cores, polls.cpuUsPerEvent);
    const readers = byPolls * SECONDS_BETWEEN_EVENTS;
    const bytes = cores * polls.atStartBytes + readers * polls.bytesPerReader;
    return [
      String(cores),
      count(byPolls),
      count(perSecond(cores, streams.contenderCpuUs.median)),
      count(readers),
      `${short(bytes / 2 ** 30)} GiB`,
    ];
  });
  return table(
    [
      'cores',
      'deliveries a second, long-polls',
      'event streams',
      `readers by long-poll, an event each ${SECONDS_BETWEEN_EVENTS} s`,
      'their memory',
    ],
    rows,
  );
}

function cost(
  { 'fan-out': fanOut, memory }: Partial<Measurements>,
  id: string,
  timelines: 'shared' | 'own',
): Cost | undefined {
  const most = fanOut?.rows
    .filter((row) => row.id === id && row.live === 'long-poll' && row.failure === undefined)
    .sort((a, b) => b.readers - a.readers)[0];
  const parked = memory?.[timelines];
  if (!most || !parked || parked.failure !== undefined) return undefined;
  const { atStart, afterEvents } = parked.bytes;
  const held = Math.max(parked.bytes.parked, afterEvents);
  return {
    cpuUsPerEvent: most.contenderCpuUs.median,
    bytesPerReader: (held - atStart) / parked.readers,
    atStartBytes: atStart,
  };
}

function readersPerPod(one: Cost, eventsPerSecond: number): number {
  const byCpu = (1e6 * POD.coreShare) / (one.cpuUsPerEvent * eventsPerSecond);
  const byMemory = (POD.memoryBytes - one.atStartBytes) / one.bytesPerReader;
  return Math.floor(Math.min(byCpu, byMemory, POD.openReads));
}

function pods(readers: number): string {
  return count(Math.ceil(READERS / readers));
}

function kib({ bytesPerReader }: Cost): string {
  return `${short(bytesPerReader / 1024)} KiB`;
}

function eventText(perSecond: number): string {
  return perSecond >= 1 ? `${perSecond} a second` : `one in ${1 / perSecond} s`;
}
