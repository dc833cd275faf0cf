import { RecentMap } from '../platform/collections/recent-map.ts';

const MS_PER_SECOND = 1_000;
/** So many callers are remembered, and twice as many at most. Read tokens without a subject count, and their number has no bound. */
const MAX_CALLERS = 50_000;

/**
 * Limits the requests of each caller to a rate, with a burst of one second: the generic cell rate algorithm
 * (ITU-T I.371), which stores one number per caller.
 */
export class RateLimit {
  private readonly intervalMs: number;
  private readonly now: () => number;
  /** The theoretical arrival time of the caller's last request, as if all requests were evenly spaced. */
  private readonly dueAtMs = new RecentMap<number>(MAX_CALLERS);

  /** `now` gives milliseconds that only grow. */
  constructor(requestsPerSecond: number, now: () => number = () => performance.now()) {
    this.intervalMs = MS_PER_SECOND / requestsPerSecond;
    this.now = now;
  }

  /** Counts a request. Returns 0 if it is within the limit, or else after how many milliseconds one would be. */
  take(callerId: string): number {
    const nowMs = this.now();
    const dueAtMs = Math.max(this.dueAtMs.get(callerId) ?? nowMs, nowMs) + this.intervalMs;
    // Even a rate of one per second allows the first request.
    const waitMs = dueAtMs - nowMs - Math.max(MS_PER_SECOND, this.intervalMs);
    if (waitMs > ROUNDING_MS) return waitMs;
    this.dueAtMs.set(callerId, dueAtMs);
    return 0;
  }
}

/** Tolerance for rounding errors in sums of fractions of a millisecond. */
const ROUNDING_MS = 1e-6;
