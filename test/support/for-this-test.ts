import { afterAll, afterEach, beforeAll } from '@jest/globals';

interface Stoppable {
  stop(): unknown;
}

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** Does this behind the test, also where that fails. What was begun last ends first. */
export function afterThisTest(close: () => unknown): void {
  closings.push(close);
}

/** Stops this behind the test. */
export function forThisTest<T extends Stoppable>(started: T): T {
  closings.push(() => started.stop());
  return started;
}

/** All that runs for a file or a `describe`, in the order in which it was started. */
const running: Partial<Stoppable>[] = [];

/**
 * Starts this for the tests of a file or a `describe`; it has no property before they begin. What was started last is stopped
 * first: Jest would go by the order in which it was declared.
 */
export function forAllTests<T extends Stoppable>(start: () => Promise<T>): T {
  const started = {} as T;
  beforeAll(async () => {
    const place = running.push({}) - 1;
    const own = await start();
    running[place] = own;
    // Not copied: its getters have to say what is so later.
    Object.setPrototypeOf(started, own);
  });
  afterAll(async () => void (await running.pop()?.stop?.()));
  return started;
}
