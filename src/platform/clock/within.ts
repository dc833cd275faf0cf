import { awakeMs } from './awake-clock.ts';

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

/**
 * The same, and only time in which this process ran counts. Behind a pause a plain timer is due before what has arrived
 * meanwhile is read; see `AwakeClock`.
 */
export function withinAwake<Result>(
  timeoutMs: number,
  promise: Promise<Result>,
): Promise<Result | undefined> {
  const dueAtMs = awakeMs() + timeoutMs;
  return before(promise, (onLate) => {
    let turnEnd: NodeJS.Immediate | undefined;
    const onTimer = (): void => {
      const leftMs = dueAtMs - awakeMs();
      if (leftMs > 0) timer = setTimeout(onTimer, leftMs);
      // What has arrived is read before the end of this turn.
      else turnEnd = setImmediate(onLate);
    };
    let timer = setTimeout(onTimer, timeoutMs);
    return () => {
      clearTimeout(timer);
      clearImmediate(turnEnd);
    };
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
