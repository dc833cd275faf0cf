/**
 * Writes the log line of only some probes: load balancers probe each copy about once a second and always get the
 * same response.
 */
export class ProbeSampling {
  private readonly intervalMs: number;
  private readonly now: () => number;
  private nextAtMs = Number.NEGATIVE_INFINITY;
  private leftOut = 0;

  /** At most one line per `intervalMs`. `now` gives milliseconds that only grow. */
  constructor(intervalMs: number, now: () => number = () => performance.now()) {
    this.intervalMs = intervalMs;
    this.now = now;
  }

  /** The number of skipped lines if this line must be written, or else undefined. */
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
