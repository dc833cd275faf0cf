const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** The longest wait. A server that asks for more is still asked again after this time. */
const LONGEST_WAIT_MS = 60_000;

/**
 * The wait before the next attempt in milliseconds: what the server asked for, and a random time that grows with each
 * failure in a row, from zero on. So clients that failed together do not return together.
 */
export function pauseMs(failures: number, retryAfterMs = 0): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return Math.min(retryAfterMs, LONGEST_WAIT_MS) + longest * Math.random();
}

/** Waits. Rejects with the signal's reason when it aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
