import { jest } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { awakeMs } from '../../src/platform/clock/awake-clock.ts';

/** The longest step that the clock of the process does not take for a pause. */
const STEP_MS = 100;
/** More turns than a local connection takes to open and to bring a request and its answer. */
const SETTLING_TURNS = 20;
const PATIENCE_NS = 20_000_000_000n;

/**
 * From now on timers and clocks advance only with `pass`. Sockets, promises and turns of the event loop stay real, and so
 * does `process.hrtime`.
 */
export function fakeTime(): void {
  // The timer of the clock is none of the test's.
  awakeMs();
  jest.useFakeTimers({
    doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'hrtime'],
  });
  // It may have been later in another test.
  awakeMs();
}

/** Lets time pass. What falls due is done before it returns. */
export async function pass(ms: number): Promise<void> {
  let leftMs = ms;
  do {
    const stepMs = Math.min(leftMs, STEP_MS);
    await jest.advanceTimersByTimeAsync(stepMs);
    awakeMs();
    // A timer may leave its work to the end of the turn.
    await nextTurn();
    leftMs -= stepMs;
  } while (leftMs > 0);
}

/** Waits for what sockets bring, while no time passes. Rejects with `what` if it is in vain. */
export async function comes(what: string, isThere: () => unknown): Promise<void> {
  const givesUpAtNs = process.hrtime.bigint() + PATIENCE_NS;
  while (!isThere()) {
    if (process.hrtime.bigint() > givesUpAtNs) throw new Error(`waited in vain: ${what}`);
    await nextTurn();
  }
}

/** Lets everything come that is under way on local sockets, before a test says that something has not come. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < SETTLING_TURNS; turn++) await nextTurn();
}
