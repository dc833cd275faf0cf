import { setTimeout as sleep } from 'node:timers/promises';

/** Commands that had to wait come back over one millisecond each, and over no more than this. */
const MAX_SPREAD_MS = 500;

/** A command that waits for the runtime, compared by identity. */
type Waiter = object;

/**
 * Commands that wait for a runtime to which no connection can be made. One of them tries again for all,
 * as thousands that each try by themselves take the whole processor, and readers have no part in this.
 */
export class RuntimeOutage {
  /** The one that tries again. */
  private scout: Waiter | undefined;
  private readonly waiting = new Map<Waiter, (mayTry: boolean) => void>();

  /**
   * Resolves with true when `waiter` is to try again: it is the scout and `backoffMs` are over, or a
   * connection was made; with false when `leftMs` are over first. Who got a turn has to `leave` in the end.
   */
  async turn(waiter: Waiter, backoffMs: number, leftMs: number): Promise<boolean> {
    this.scout ??= waiter;
    if (this.scout !== waiter) return this.wait(waiter, leftMs);
    if (backoffMs > leftMs) return false;
    await sleep(backoffMs);
    return true;
  }

  /** A connection was made, by whomever. */
  over(): void {
    this.scout = undefined;
    const spreadMs = Math.min(this.waiting.size, MAX_SPREAD_MS);
    for (const settle of this.waiting.values()) {
      setTimeout(() => settle(true), Math.random() * spreadMs);
    }
    this.waiting.clear();
  }

  /** It tries no more; if it was the scout another one tries at once. */
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
