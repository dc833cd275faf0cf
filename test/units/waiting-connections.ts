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
// Those that the other copy does not answer wait for the halted one.
while (outcomes.count + (await waiting()) < REQUESTS) await setImmediate();
const waited = await waiting();
halted.signal('SIGKILL');
await asked;
await gateways.stop();
process.stdout.write(
  JSON.stringify({ waited, outcomes: outcomes.counts } satisfies WaitingOutcome),
);

/** The connections in the queues of the port: `rx_queue` of a socket that listens (state 0A), see proc(5). */
async function waiting(): Promise<number> {
  const port = PORT.toString(16).toUpperCase();
  const line = new RegExp(`:${port} 00000000:0000 0A [0-9A-F]{8}:([0-9A-F]{8})`, 'g');
  const table = await readFile('/proc/net/tcp', 'latin1');
  return [...table.matchAll(line)].reduce((sum, [, queue = '']) => sum + parseInt(queue, 16), 0);
}
