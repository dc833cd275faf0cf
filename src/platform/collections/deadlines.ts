import { UnorderedList, type UnorderedListItem } from './unordered-list.ts';

/** A waiter for a point in time. */
export class Deadline<Waiter> implements UnorderedListItem {
  listIndex: number | undefined;
  isCalledOff = false;
  readonly waiter: Waiter;
  private readonly atMs: number;
  private readonly deadlines: Deadlines<Waiter>;

  /** Made by `Deadlines`. */
  constructor(waiter: Waiter, atMs: number, deadlines: Deadlines<Waiter>) {
    this.waiter = waiter;
    this.atMs = atMs;
    this.deadlines = deadlines;
  }

  /** Cancels the callback. Does nothing if it has already been called. */
  callOff(): void {
    this.isCalledOff = true;
    this.deadlines.remove(this, this.atMs);
  }
}

/**
 * Calls back when a point in time has come, for any number of waiters with a single timer: ten
 * thousand parked reads with a token each must not cost ten thousand timers. Points in time are
 * rounded up to a tenth of a second.
 */
export class Deadlines<Waiter> {
  private readonly buckets = new Map<number, UnorderedList<Deadline<Waiter>>>();
  private timer: NodeJS.Timeout | undefined;
  private timerAt = Number.POSITIVE_INFINITY;
  private readonly now: () => number;
  private readonly onDue: (waiter: Waiter) => void;
  private readonly maxSleepMs: number;

  /**
   * `onDue` is called with each waiter whose time has come. `now` returns milliseconds, of the wall clock or of a monotonic clock. A timer does not notice when somebody
   * sets the wall clock, so the clock is read again after `maxSleepMs` at the latest.
   */
  constructor(now: () => number, onDue: (waiter: Waiter) => void, maxSleepMs = MAX_TIMER_MS) {
    this.now = now;
    this.onDue = onDue;
    this.maxSleepMs = maxSleepMs;
  }

  /** Calls back once at `atMs`, a time of `now`, unless it is cancelled. */
  add(atMs: number, waiter: Waiter): Deadline<Waiter> {
    const bucketAt = Math.ceil(atMs / BUCKET_MS) * BUCKET_MS;
    let bucket = this.buckets.get(bucketAt);
    if (!bucket) this.buckets.set(bucketAt, (bucket = new UnorderedList()));
    const deadline = new Deadline(waiter, bucketAt, this);
    bucket.add(deadline);
    if (bucketAt < this.timerAt) this.arm(bucketAt);
    return deadline;
  }

  /** For `Deadline.callOff`. */
  remove(deadline: Deadline<Waiter>, bucketAt: number): void {
    const bucket = this.buckets.get(bucketAt);
    // The list is undefined after the waiter's time has come. Another list may have taken its place.
    if (!bucket) return;
    bucket.delete(deadline);
    if (bucket.size === 0) this.buckets.delete(bucketAt);
    if (this.buckets.size === 0) this.disarm();
  }

  private arm(atMs: number): void {
    clearTimeout(this.timer);
    this.timerAt = atMs;
    const waitMs = Math.min(Math.max(atMs - this.now(), 0), this.maxSleepMs);
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
    const due: Deadline<Waiter>[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [atMs, bucket] of this.buckets) {
      if (atMs <= nowMs) {
        this.buckets.delete(atMs);
        for (const deadline of bucket.takeAll()) due.push(deadline);
      } else if (atMs < nextMs) nextMs = atMs;
    }
    // The list is updated before the callbacks, which may add and cancel waiters, and may throw.
    if (nextMs !== Number.POSITIVE_INFINITY) this.arm(nextMs);
    for (const deadline of due) {
      // An earlier callback may have cancelled it.
      if (!deadline.isCalledOff) this.onDue(deadline.waiter);
    }
  }
}

const BUCKET_MS = 100;
/** `setTimeout` fires at once for anything that does not fit 32 bits. */
const MAX_TIMER_MS = 2 ** 31 - 1;
