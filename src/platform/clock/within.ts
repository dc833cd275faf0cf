import { setImmediate } from 'node:timers/promises';
import { awakeMs } from './awake-clock.ts';

/** Waits for a promise, and for this long at most. Resolves with undefined if it takes longer. Leaves no timer behind. */
export async function within<Result>(
  timeoutMs: number,
  promise: Promise<Result>,
): Promise<Result | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, timeoutMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The same, and only time in which this process ran counts. Behind a pause a plain timer is due before what has arrived
 * meanwhile is read; see `awakeMs`.
 */
export async function withinAwake<Result>(
  timeoutMs: number,
  promise: Promise<Result>,
): Promise<Result | undefined> {
  const dueAtMs = awakeMs() + timeoutMs;
  const fulfilled = promise.then((result) => ({ result }));
  for (let leftMs = timeoutMs; leftMs > 0; leftMs = dueAtMs - awakeMs()) {
    const inTime = await within(leftMs, fulfilled);
    if (inTime) return inTime.result;
  }
  // What has arrived is read before the end of this turn.
  return Promise.race([promise, setImmediate(undefined)]);
}
