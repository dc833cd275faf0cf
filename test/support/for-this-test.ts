import { afterAll, afterEach, beforeAll } from '@jest/globals';

interface Stoppable {
  stop(): Promise<void>;
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

/** Starts this for the tests of a file or a `describe`; it has no property before they begin. */
export function forAllTests<T extends Stoppable>(start: () => Promise<T>): T {
  const started = {} as T;
  beforeAll(async () => void Object.assign(started, await start()));
  afterAll(() => started.stop?.());
  return started;
}
