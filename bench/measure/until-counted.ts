import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;
const TIMEOUT_MS = 60_000;

/** Waits until there are so many. Rejects after a minute; `are` ends the sentence that says so. */
export async function untilCounted(
  wanted: number,
  count: () => Promise<number>,
  are: string,
): Promise<void> {
  const giveUpAtMs = performance.now() + TIMEOUT_MS;
  for (;;) {
    const there = await count();
    if (there >= wanted) return;
    if (performance.now() > giveUpAtMs) throw new Error(`only ${there} of ${wanted} ${are}`);
    await sleep(POLL_MS);
  }
}
