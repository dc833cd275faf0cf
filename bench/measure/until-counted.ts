import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;
const TIMEOUT_MS = 60_000;

/** Waits until `count` returns the wanted number. Rejects after a minute with a sentence that ends with `are`. */
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
