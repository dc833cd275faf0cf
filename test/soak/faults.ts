import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.ts';
import type { Stack } from './stack.ts';

const MIN_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 6_000;
/** A drained gateway must have exited by then: its drain time of 5 s, and what a busy machine adds. */
const DRAIN_ENDS_WITHIN_MS = 20_000;

export type FaultName =
  | 'runtime killed and restarted'
  | 'history store: connections cut'
  | 'history store: down'
  | 'history store: stalled'
  | 'sync engine killed and restarted'
  | 'gateway drained and replaced'
  | 'gateway killed and replaced';

/** Drains are more frequent than other faults. */
const NAMES: readonly [FaultName, ...FaultName[]] = [
  'gateway drained and replaced',
  'gateway drained and replaced',
  'runtime killed and restarted',
  'history store: connections cut',
  'history store: down',
  'history store: stalled',
  'sync engine killed and restarted',
  'gateway killed and replaced',
];

/** Breaks one part of the system after the other. Each is repaired before the next one. */
export class Faults {
  readonly done = new Map<FaultName, number>();
  /** What a fault brought to light by itself, such as a drain that did not end. */
  readonly failures: string[] = [];
  readonly drainTimesMs: number[] = [];
  private readonly stack: Stack;
  private readonly random: Random;

  constructor(stack: Stack, random: Random) {
    this.stack = stack;
    this.random = random;
  }

  /** Until the signal; the fault under way is healed first. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pauseMs = this.random.between(MIN_PAUSE_MS, MAX_PAUSE_MS);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const name = this.random.pick(NAMES);
      await this.inflict(name);
      this.done.set(name, (this.done.get(name) ?? 0) + 1);
    }
  }

  private async inflict(name: FaultName): Promise<void> {
    const { restate, historyLink, slots } = this.stack;
    const whileMs = this.random.between(500, 3_000);
    switch (name) {
      case 'runtime killed and restarted':
        await restate.kill();
        await sleep(whileMs);
        return restate.restart();
      case 'history store: connections cut':
        return historyLink.cut();
      case 'history store: down':
        historyLink.goDown();
        await sleep(whileMs);
        return historyLink.resume();
      case 'history store: stalled':
        historyLink.stall();
        await sleep(whileMs);
        return historyLink.resume();
      case 'sync engine killed and restarted':
        return this.stack.restartCatalog();
      case 'gateway killed and replaced':
        await this.stack.replaceGateway(slots[1], 'SIGKILL');
        return;
      case 'gateway drained and replaced':
        return this.drain();
    }
  }

  private async drain(): Promise<void> {
    const [, slot] = this.stack.slots;
    const startedAtMs = performance.now();
    void slot.gateway.exited.then(() => {
      const tookMs = performance.now() - startedAtMs;
      this.drainTimesMs.push(tookMs);
      if (tookMs > DRAIN_ENDS_WITHIN_MS)
        this.failures.push(`a drain took ${Math.round(tookMs)} ms`);
    });
    const exitCode = await this.stack.replaceGateway(slot, 'SIGTERM');
    if (exitCode !== 0) this.failures.push(`a drained gateway ended with exit code ${exitCode}`);
  }
}
