const MS_PER_SECOND = 1_000;
/** The most callers that are remembered. Read tokens without a subject count, and their number has no bound. */
const MAX_CALLERS = 100_000;

/**
 * Limits the requests of each caller to a rate, with a burst of one second: the generic cell rate algorithm
 * (ITU-T I.371), which stores one number per caller.
 */
export class RateLimit {
  private readonly intervalMs: number;
  private readonly now: () => number;
  private readonly maxCallers: number;
  /** The theoretical arrival time of the caller's last request, as if all requests were evenly spaced. */
  private readonly dueAtMs = new Map<string, number>();

  /** `now` gives milliseconds that only grow. */
  constructor(
    requestsPerSecond: number,
    now: () => number = () => performance.now(),
    maxCallers = MAX_CALLERS,
  ) {
    this.intervalMs = MS_PER_SECOND / requestsPerSecond;
    this.now = now;
    this.maxCallers = maxCallers;
  }

  /** The number of remembered callers. */
  get size(): number {
    return this.dueAtMs.size;
  }

  /** Counts a request. Returns 0 if it is within the limit, or else after how many milliseconds one would be. */
  take(callerId: string): number {
    const nowMs = this.now();
    const dueAtMs = Math.max(this.dueAtMs.get(callerId) ?? nowMs, nowMs) + this.intervalMs;
    // Even a rate of one per second allows the first request.
    const waitMs = dueAtMs - nowMs - Math.max(MS_PER_SECOND, this.intervalMs);
    if (waitMs > ROUNDING_MS) return waitMs;
    // The entry moves to the end, so that the map is in the order of use.
    this.dueAtMs.delete(callerId);
    this.dueAtMs.set(callerId, dueAtMs);
    this.forget(nowMs);
    return 0;
  }

  /** Drops the entries that were unused for longest: those that no longer matter, and above the maximum any. */
  private forget(nowMs: number): void {
    for (const [callerId, dueAtMs] of this.dueAtMs) {
      if (dueAtMs > nowMs && this.dueAtMs.size <= this.maxCallers) return;
      this.dueAtMs.delete(callerId);
    }
  }
}

/** Tolerance for rounding errors in sums of fractions of a millisecond. */
const ROUNDING_MS = 1e-6;
