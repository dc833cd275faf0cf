import { setTimeout as sleep } from 'node:timers/promises';
import { groupCpuMs, isGroupRunnable } from './cpu-time.ts';

const SAMPLE_MS = 50;
/** The kernel counts processor time in steps of 10 ms. An idle process uses less than one step. */
const IDLE_MS = 10;
const SETTLE_TIMEOUT_MS = 60_000;

/**
 * Waits until these process groups do next to nothing, twice in a row. One that would work and gets no
 * processor is not at rest.
 */
export async function settle(pids: readonly (number | undefined)[]): Promise<void> {
  const groups = pids.filter((pid) => pid !== undefined);
  const used = async (): Promise<number> => {
    const each = await Promise.all(groups.map(groupCpuMs));
    return each.reduce((sum, ms) => sum + ms, 0);
  };
  const giveUpAtMs = performance.now() + SETTLE_TIMEOUT_MS;
  let before = await used();
  for (let idleSamples = 0; idleSamples < 2;) {
    await sleep(SAMPLE_MS);
    const now = await used();
    const isWaiting = (await Promise.all(groups.map(isGroupRunnable))).includes(true);
    idleSamples = now - before <= IDLE_MS && !isWaiting ? idleSamples + 1 : 0;
    before = now;
    if (performance.now() > giveUpAtMs) {
      throw new Error('the processes measured do not come to rest');
    }
  }
}
