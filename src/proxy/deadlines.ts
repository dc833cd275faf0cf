/**
 * Calls back when a point in time has come, for any number of waiters with a single timer: ten
 * thousand parked reads with a token each must not cost ten thousand timers. Points in time are
 * rounded up to a tenth of a second.
 */
export class Deadlines {
  private readonly buckets = new Map<number, Set<() => void>>();
  private timer: NodeJS.Timeout | undefined;
  private timerAt = Number.POSITIVE_INFINITY;
  private readonly now: () => number;

  /** `now` gives milliseconds: of the calendar, or of a clock that nobody sets. */
  constructor(now: () => number) {
    this.now = now;
  }

  /** Calls back once at `atMs`, a time of `now`; the returned function calls it off. */
  add(atMs: number, callback: () => void): () => void {
    const bucketAt = Math.ceil(atMs / BUCKET_MS) * BUCKET_MS;
    let bucket = this.buckets.get(bucketAt);
    if (!bucket) this.buckets.set(bucketAt, (bucket = new Set()));
    // Wrapped, so that the same function may wait twice.
    const entry = (): void => callback();
    bucket.add(entry);
    if (bucketAt < this.timerAt) this.arm(bucketAt);
    return () => {
      bucket.delete(entry);
      if (bucket.size === 0 && this.buckets.get(bucketAt) === bucket) this.buckets.delete(bucketAt);
      if (this.buckets.size === 0) this.disarm();
    };
  }

  private arm(atMs: number): void {
    clearTimeout(this.timer);
    this.timerAt = atMs;
    const waitMs = Math.min(Math.max(atMs - this.now(), 0), MAX_TIMER_MS);
    this.timer = setTimeout(() => this.fire(), waitMs);
    this.timer.unref();
  }

  private disarm(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.timerAt = Number.POSITIVE_INFINITY;
  }

  private fire(): void {
    this.disarm();
    const nowMs = this.now();
    const due: Set<() => void>[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [atMs, bucket] of this.buckets) {
      if (atMs <= nowMs) {
        this.buckets.delete(atMs);
        due.push(bucket);
      } else if (atMs < nextMs) nextMs = atMs;
    }
    // Before the callbacks, which may add and call off waiters, and may throw.
    if (nextMs !== Number.POSITIVE_INFINITY) this.arm(nextMs);
    for (const bucket of due) for (const callback of bucket) callback();
  }
}

const BUCKET_MS = 100;
/** `setTimeout` fires at once for anything that does not fit 32 bits. */
const MAX_TIMER_MS = 2 ** 31 - 1;
