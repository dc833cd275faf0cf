import { performance } from 'node:perf_hooks';
import { TurnQueue } from '../../../platform/collections/turn-queue.ts';

/** How often connections may fill their buffer in one turn of the event loop, before the others must wait. */
const MAX_FULL_READS = 64;

/** The connections that wait for the next turn. */
export interface TurnWaiter {
  nextTurn(): void;
}

let turn = -1;
let fullReads = 0;

/**
 * Whether a connection that has filled its buffer may read again in this turn. libuv reads a socket up to 32 times
 * in a row. Without this limit, 600 connections that received a megabyte each at once delayed all others for
 * almost two seconds.
 */
export function mayReadOn(connection: TurnWaiter): boolean {
  const { loopCount } = performance.nodeTiming.uvMetricsInfo;
  if (loopCount !== turn) {
    turn = loopCount;
    fullReads = 0;
  }
  if (++fullReads <= MAX_FULL_READS) return true;
  waiting.add(connection);
  return false;
}

const waiting = new TurnQueue<TurnWaiter>((connection) => connection.nextTurn());
