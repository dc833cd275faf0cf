import { awakeMs } from './awake-clock.ts';

/**
 * Calls back once, after a time in which this process ran. Behind a pause a plain timer is due before what has arrived
 * meanwhile is read; see `AwakeClock`.
 */
export class AwakeTimer {
  private readonly timeoutMs: number;
  private readonly onDue: () => void;
  private timer: NodeJS.Timeout | undefined;
  private turnEnd: NodeJS.Immediate | undefined;
  private dueAtMs = 0;

  constructor(timeoutMs: number, onDue: () => void) {
    this.timeoutMs = timeoutMs;
    this.onDue = onDue;
    this.restart();
  }

  /** Begins its time again, also after it has called back. */
  restart(): void {
    this.dueAtMs = awakeMs() + this.timeoutMs;
    this.wait(this.timeoutMs);
  }

  stop(): void {
    clearTimeout(this.timer);
    clearImmediate(this.turnEnd);
  }

  private wait(ms: number): void {
    this.stop();
    this.timer = setTimeout(() => {
      const leftMs = this.dueAtMs - awakeMs();
      if (leftMs > 0) this.wait(leftMs);
      // What has arrived is read before the end of this turn.
      else this.turnEnd = setImmediate(this.onDue);
    }, ms);
  }
}
