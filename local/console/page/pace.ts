/** A question that takes a second may be asked every five seconds. */
const SHARE = 5;
const LONGEST_MS = 30_000;

/** How long to wait after a question that took so long, so that answering it takes at most a fifth of the time. */
export function pauseAfter(tookMs: number): number {
  return Math.min(LONGEST_MS, Math.max(0, tookMs) * (SHARE - 1));
}
