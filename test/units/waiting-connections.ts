/**
 * What becomes of connections that wait in the queue of a copy when its socket closes. The copy is halted, so that it accepts
 * none of those that the kernel gives it, and then killed. Prints how many waited and how each request ended.
 */
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { Outcomes } from './outcomes.ts';
import { PORT, startSharingCopies } from './sharing-copies.ts';

const REQUESTS = 40;

/** What the program prints. */
export interface WaitingOutcome {
  waited: number;
  /** How often each outcome came. */
  outcomes: Record<string, number>;
}

const gateways = await startSharingCopies();
const halted = gateways.copies[0]!;
const outcomes = new Outcomes();
halted.signal('SIGSTOP');
const asked = Promise.all(
  Array.from({ length: REQUESTS }, () => outcomes.ofRequest({ method: 'GET', path: '/health' })),
);
// Those that the other copy does not answer wait for the halted one. The other copy empties its own queue.
let queues: number[];
do {
  await setImmediate();
  queues = await filledQueues();
} while (queues.length > 1 || outcomes.count + sum(queues) < REQUESTS);
const waited = sum(queues);
halted.signal('SIGKILL');
await asked;
await gateways.stop();
process.stdout.write(
  JSON.stringify({ waited, outcomes: outcomes.counts } satisfies WaitingOutcome),
);

/** How many connections wait in each queue of the port that is not empty: `rx_queue` of a socket that listens (state 0A), see proc(5). */
async function filledQueues(): Promise<number[]> {
  const port = PORT.toString(16).toUpperCase();
  const line = new RegExp(`:${port} 00000000:0000 0A [0-9A-F]{8}:([0-9A-F]{8})`, 'g');
  const table = await readFile('/proc/net/tcp', 'latin1');
  const lengths = [...table.matchAll(line)].map(([, queue = '']) => parseInt(queue, 16));
  return lengths.filter((length) => length > 0);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
