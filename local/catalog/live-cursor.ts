import { randomInt } from 'node:crypto';

/** The time from which cursors count seconds, as in Electric. */
const CURSOR_EPOCH_MS = Date.UTC(2024, 9, 9);
const CURSOR_STEP_SECONDS = 20;
const MAX_JUMP_SECONDS = 3_600;

/**
 * The `electric-cursor` of a live response. The client puts it into its next URL, so that no cache confuses the
 * two: it must be greater than that of the request. As in Electric it then grows by a random amount.
 */
export function nextCursor(requested: string | undefined, now: Date): string {
  const seconds = (now.getTime() - CURSOR_EPOCH_MS) / 1000;
  const interval = BigInt(Math.ceil(seconds / CURSOR_STEP_SECONDS) * CURSOR_STEP_SECONDS);
  const previous = /^[0-9]{1,30}$/.test(requested ?? '') ? BigInt(requested ?? 0) : 0n;
  if (previous < interval) return String(interval);
  return String(previous + BigInt(randomInt(1, MAX_JUMP_SECONDS + 1)));
}
