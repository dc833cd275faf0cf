/** Reads wait at most this long for new connections. */
const MAX_HOLD_MS = 10;

/**
 * Detects a burst of new connections, during which other work should wait. Node accepts one connection per turn of the
 * event loop (https://github.com/libuv/libuv/pull/3696). If each turn also does all other work, the last of some hundred
 * connections waits a second. Accepting them first takes 20 ms.
 */
export class AcceptBurst {
  private readonly accepted: () => number;
  private readonly maxHoldMs: number;
  private seen = 0;
  private heldSinceMs: number | undefined;

  /** `accepted` returns the number of connections accepted so far. */
  constructor(accepted: () => number, maxHoldMs = MAX_HOLD_MS) {
    this.accepted = accepted;
    this.maxHoldMs = maxHoldMs;
  }

  /**
   * Call it once per turn while there is work. Returns true if a connection arrived since the last call and work
   * has waited less than the limit.
   */
  isUnderWay(): boolean {
    const accepted = this.accepted();
    if (accepted !== this.seen) {
      this.seen = accepted;
      const nowMs = performance.now();
      this.heldSinceMs ??= nowMs;
      if (nowMs - this.heldSinceMs < this.maxHoldMs) return true;
    }
    this.heldSinceMs = undefined;
    return false;
  }
}
