import { performance } from 'node:perf_hooks';
import { TurnQueue } from '../../collections/turn-queue.ts';

/** So often connections may fill their buffer in one turn of the event loop before the next ones have to wait. */
const MAX_FULL_READS = 64;

/** What waits for the next turn. */
export interface TurnWaiter {
  nextTurn(): void;
}

let turn = -1;
let fullReads = 0;

/**
 * Asked by a connection that has filled its buffer, and so may have more: whether it may read on in this turn. libuv
 * reads a socket up to 32 times in a row. Six hundred that brought a megabyte each at once held up everybody else for
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
