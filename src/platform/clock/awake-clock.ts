/** How often the clock is read. */
const TICK_MS = 100;
/** A longer time than this between two readings is a pause of the process. */
const MAX_STEP_MS = 500;

/**
 * Time in which this process ran, in milliseconds. A pause hardly counts: a stop by a signal, a machine that
 * sleeps or is overloaded, a long garbage collection. After a pause Node runs its due timers before it reads its
 * sockets, so a peer would seem late although its data has arrived.
 */
export class AwakeClock {
  private readonly now: () => number;
  private awakeMs = 1;
  private lookedAtMs: number;

  /** `now` gives milliseconds that only grow. */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
    this.lookedAtMs = now();
    setInterval(() => this.readMs(), TICK_MS).unref();
  }

  readMs(): number {
    const nowMs = this.now();
    this.awakeMs += Math.min(nowMs - this.lookedAtMs, MAX_STEP_MS);
    this.lookedAtMs = nowMs;
    return this.awakeMs;
  }
}

let ofProcess: AwakeClock | undefined;

/** The time in milliseconds in which this process ran. Only differences have a meaning. */
export function awakeMs(): number {
  ofProcess ??= new AwakeClock();
  return ofProcess.readMs();
}
