import { Refusal } from './refusal.ts';

const MINUTE_MS = 60_000;

/** A budget of requests for each user, which refills evenly. It is kept in this process only. */
export class SubjectRate {
  readonly #perMinute: number;
  readonly #nowMs: () => number;
  /** The one that was used last is the last. */
  readonly #budgets = new Map<string, { left: number; atMs: number }>();

  constructor(perMinute: number, nowMs: () => number = () => performance.now()) {
    this.#perMinute = perMinute;
    this.#nowMs = nowMs;
  }

  /** Counts a request. Throws if the user has none left. */
  spend(subject: string): void {
    const atMs = this.#nowMs();
    const { left: leftThen, atMs: thenMs } = this.#budgets.get(subject) ?? {
      left: this.#perMinute,
      atMs,
    };
    const refilled = ((atMs - thenMs) / MINUTE_MS) * this.#perMinute;
    const left = Math.min(this.#perMinute, leftThen + refilled);
    this.#budgets.delete(subject);
    this.#budgets.set(subject, { left: left < 1 ? left : left - 1, atMs });
    this.#forgetFull(atMs);
    if (left < 1) {
      const waitSeconds = Math.ceil(((1 - left) / this.#perMinute) * 60);
      throw new Refusal(
        429,
        'rate_limited',
        'There are too many requests. Try again later.',
        waitSeconds,
      );
    }
  }

  /** The number of users that are remembered. */
  get size(): number {
    return this.#budgets.size;
  }

  /** Whoever did nothing for a minute has the whole budget again, as if unknown. */
  #forgetFull(nowMs: number): void {
    for (const [subject, { atMs }] of this.#budgets) {
      if (nowMs - atMs < MINUTE_MS) return;
      this.#budgets.delete(subject);
    }
  }
}
