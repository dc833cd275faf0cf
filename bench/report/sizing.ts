import { memoryPlan } from '../../src/contract/memory-plan.ts';
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
/** The rates of events to each reader. */
const EVENTS_PER_SECOND = [0.1, 1, 10];

interface Cost {
  cpuUsPerEvent: number;
  bytesPerReader: number;
  atStartBytes: number;
}

/** How many readers a pod holds by the measurements. Undefined unless fan-out and memory were measured. */
export function sizing(measured: Partial<Measurements>): string | undefined {
  const shared = cost(measured, 'gateway', 'shared');
  const own = cost(measured, 'gateway-unshared', 'own');
  if (!shared || !own) return undefined;
  const rows = EVENTS_PER_SECOND.map((eventsPerSecond) => {
    const many = readersPerPod(shared, eventsPerSecond);
    const one = readersPerPod(own, eventsPerSecond);
    return [eventText(eventsPerSecond), count(many), count(one)];
  });
  const head = [
    'events to each reader',
    'readers a pod, many to a timeline',
    'readers a pod, each its own timeline',
  ];
  return `A parked reader takes ${kib(shared)} of memory where many share a timeline, and ${kib(own)}
where each has its own, with its own connection to the store. To deliver an event takes the gateway
${short(shared.cpuUsPerEvent)} µs of processor time where many share a timeline, and
${short(own.cpuUsPerEvent)} µs where each has its own. So a pod that may use ${POD.coreShare * 100} % of one core and
${mebibytes(POD.memoryBytes)}, where \`GATEWAY_MAX_OPEN_READS\` is ${count(POD.openReads)} unless it is set, holds:

${table(head, rows)}`;
}

/** What one core delivers. Undefined unless fan-out with event streams and memory were measured. */
export function coreDelivers(measured: Partial<Measurements>): string | undefined {
  const polls = cost(measured, 'gateway', 'shared');
  const streams = measured['fan-out']?.rows.find(
    ({ id, live }) => id === 'gateway' && live === 'sse',
  );
  if (!polls || !streams) return undefined;
  const perSecond = (cpuUs: number): string => count((POD.coreShare * 1e6) / cpuUs);
  return `At ${POD.coreShare * 100} % of its core a copy delivers ${perSecond(polls.cpuUsPerEvent)} events a second to long-polls,
or ${perSecond(streams.contenderCpuUs.median)} to event streams.`;
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

function kib({ bytesPerReader }: Cost): string {
  return `${short(bytesPerReader / 1024)} KiB`;
}

function eventText(perSecond: number): string {
  return perSecond >= 1 ? `${perSecond} a second` : `one in ${1 / perSecond} s`;
}
