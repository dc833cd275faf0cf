import { setTimeout as sleep } from 'node:timers/promises';

/** Waiting commands resume one per millisecond each, and within this time at most. */
const MAX_SPREAD_MS = 500;

/** A command that waits for the runtime, compared by identity. */
type Waiter = object;

/**
 * Commands that wait while no connection to the runtime can be made. One of them, the scout, tries again for all.
 * If thousands tried by themselves, they would take the whole processor and slow down readers.
 */
export class RuntimeOutage {
  /** The waiter that tries again. */
  private scout: Waiter | undefined;
  private readonly waiting = new Map<Waiter, (mayTry: boolean) => void>();

  /**
   * Resolves with true when `waiter` should try again: it is the scout and `backoffMs` have passed, or a connection
   * was made. Resolves with false if `leftMs` pass first. After true, the waiter must call `leave` in the end.
   */
  async turn(waiter: Waiter, backoffMs: number, leftMs: number): Promise<boolean> {
    this.scout ??= waiter;
    if (this.scout !== waiter) return this.wait(waiter, leftMs);
    if (backoffMs > leftMs) return false;
    await sleep(backoffMs);
    return true;
  }

  /** Any command has made a connection. */
  over(): void {
    this.scout = undefined;
    const spreadMs = Math.min(this.waiting.size, MAX_SPREAD_MS);
    for (const settle of this.waiting.values()) {
      setTimeout(() => settle(true), Math.random() * spreadMs);
    }
    this.waiting.clear();
  }

  /** The waiter stops trying. If it was the scout, another one tries at once. */
  leave(waiter: Waiter): void {
    if (this.scout !== waiter) return;
    const [next] = this.waiting;
    this.scout = next?.[0];
    if (!next) return;
    this.waiting.delete(next[0]);
    next[1](true);
  }

  private wait(waiter: Waiter, leftMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (mayTry: boolean): void => {
        clearTimeout(timer);
        this.waiting.delete(waiter);
        resolve(mayTry);
      };
      const timer = setTimeout(() => settle(false), Math.max(0, leftMs));
      this.waiting.set(waiter, settle);
    });
  }
}
