import { AwakeTimer } from './awake-timer.ts';

/** Waits for a promise, and for this long at most. Resolves with undefined if it takes longer. Leaves no timer behind. */
export function within<Result>(
  timeoutMs: number,
  promise: Promise<Result>,
): Promise<Result | undefined> {
  return before(promise, (onLate) => {
    const timer = setTimeout(onLate, timeoutMs);
    return () => clearTimeout(timer);
  });
}

/** The same, and only time in which this process ran counts. */
export function withinAwake<Result>(
  timeoutMs: number,
  promise: Promise<Result>,
): Promise<Result | undefined> {
  return before(promise, (onLate) => {
    const timer = new AwakeTimer(timeoutMs, onLate);
    return () => timer.stop();
  });
}

async function before<Result>(
  promise: Promise<Result>,
  startTimer: (onLate: () => void) => () => void,
): Promise<Result | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const stopTimer = startTimer(() => resolve(undefined));
  try {
    return await Promise.race([promise, late]);
  } finally {
    stopTimer();
  }
}
