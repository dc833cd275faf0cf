const MS_PER_SECOND = 1_000;
/** Credentials remembered at most; a read token is one of them, and there is no end of tokens. */
const MAX_CREDENTIALS = 100_000;

/**
 * Limits the requests of each credential to a rate, with a burst of what a second allows: the
 * generic cell rate algorithm (ITU-T I.371), which needs one number a credential.
 */
export class RateLimit {
  private readonly intervalMs: number;
  private readonly now: () => number;
  private readonly maxCredentials: number;
  /** When the credential's last request would have come, had they all come evenly spaced. */
  private readonly dueAtMs = new Map<string, number>();

  /** `now` gives milliseconds that only grow. */
  constructor(
    requestsPerSecond: number,
    now: () => number = () => performance.now(),
    maxCredentials = MAX_CREDENTIALS,
  ) {
    this.intervalMs = MS_PER_SECOND / requestsPerSecond;
    this.now = now;
    this.maxCredentials = maxCredentials;
  }

  /** Credentials remembered just now. */
  get size(): number {
    return this.dueAtMs.size;
  }

  /** Counts a request: 0 where it is within the limit, else in how many milliseconds one would be. */
  take(credentialId: string): number {
    const nowMs = this.now();
    const dueAtMs = Math.max(this.dueAtMs.get(credentialId) ?? nowMs, nowMs) + this.intervalMs;
    // A rate of one a second still allows that one.
    const waitMs = dueAtMs - nowMs - Math.max(MS_PER_SECOND, this.intervalMs);
    if (waitMs > ROUNDING_MS) return waitMs;
    // Moved to the end, so that the map is in the order of use.
    this.dueAtMs.delete(credentialId);
    this.dueAtMs.set(credentialId, dueAtMs);
    this.forget(nowMs);
    return 0;
  }

  /** Drops the longest unused ones that are as if never seen, and beyond the maximum any. */
  private forget(nowMs: number): void {
    for (const [credentialId, dueAtMs] of this.dueAtMs) {
      if (dueAtMs > nowMs && this.dueAtMs.size <= this.maxCredentials) return;
      this.dueAtMs.delete(credentialId);
    }
  }
}

/** Sums of fractions of a millisecond are a little off. */
const ROUNDING_MS = 1e-6;
