/**
 * Lets the log line of one in many probes through: a load balancer asks each copy every second or so,
 * for good, and is always answered the same.
 */
export class ProbeSampling {
  private readonly intervalMs: number;
  private readonly now: () => number;
  private nextAtMs = Number.NEGATIVE_INFINITY;
  private leftOut = 0;

  /** At most one line each `intervalMs`; `now` gives milliseconds that only grow. */
  constructor(intervalMs: number, now: () => number = () => performance.now()) {
    this.intervalMs = intervalMs;
    this.now = now;
  }

  /** How many lines were left out before this one, if this one must be written; else undefined. */
  take(): number | undefined {
    const nowMs = this.now();
    if (nowMs < this.nextAtMs) {
      this.leftOut++;
      return undefined;
    }
    this.nextAtMs = nowMs + this.intervalMs;
    const { leftOut } = this;
    this.leftOut = 0;
    return leftOut;
  }
}
