/** For so long reads wait for connections that are coming, at most. */
const MAX_HOLD_MS = 10;

/**
 * Tells whether connections are coming just now, for which work is to wait. Node accepts one in a turn of the event
 * loop (https://github.com/libuv/libuv/pull/3696). Of hundreds that come together under load the last would wait for
 * hundreds of turns, each as long as the work for all who are there already: a second, where to let all of them in
 * takes 20 ms. And clients that open a connection for each read would get a third of the reads.
 */
export class Newcomers {
  private readonly accepted: () => number;
  private readonly maxHoldMs: number;
  private seen = 0;
  private heldSinceMs: number | undefined;

  /** `accepted` gives how many connections were ever accepted. */
  constructor(accepted: () => number, maxHoldMs = MAX_HOLD_MS) {
    this.accepted = accepted;
    this.maxHoldMs = maxHoldMs;
  }

  /** To be asked once a turn while there is work: whether one has come since, and work has not waited for long. */
  areComing(): boolean {
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
