import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 200;
const LONGEST_MS = 5_000;

/**
 * How long to wait before a try, in milliseconds: longer after each failure, spread at random so that
 * not all clients come back at once, and never less than the server asked for.
 */
export function pauseMs(failures: number, retryAfterMs = 0): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
  return Math.max(retryAfterMs, longest / 2 + (Math.random() * longest) / 2);
}

/** Ends early, without an error, when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
