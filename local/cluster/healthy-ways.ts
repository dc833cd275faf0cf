import { request } from 'node:http';
import type { Way } from '../stack/door.ts';

const CHECK_INTERVAL_MS = 300;
/** A process that is stopped takes connections and answers nothing. */
const CHECK_TIMEOUT_MS = 1_000;

/** A copy of a part. */
export interface Copy {
  way: Way;
  /** Where it says with 200 that it is well. By default at its own way. */
  healthWay?: Way;
  healthPath: string;
}

/** The ways to the copies of a part, in turn, those that are not well last. */
export class HealthyWays {
  private readonly copies: readonly Copy[];
  private readonly ill = new Set<Copy>();
  private readonly timer: NodeJS.Timeout;
  private turn = 0;

  /** `onSilent` is called for each copy that answers no more. One that is about to end does. */
  constructor(copies: readonly Copy[], onSilent: (way: Way) => void = () => undefined) {
    this.copies = copies;
    this.timer = setInterval(() => {
      for (const copy of copies) void this.check(copy, onSilent);
    }, CHECK_INTERVAL_MS).unref();
  }

  next(): Way[] {
    const start = this.turn++ % this.copies.length;
    const inTurn = [...this.copies.slice(start), ...this.copies.slice(0, start)];
    const isIll = (copy: Copy): number => Number(this.ill.has(copy));
    return inTurn.toSorted((a, b) => isIll(a) - isIll(b)).map(({ way }) => way);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async check(copy: Copy, onSilent: (way: Way) => void): Promise<void> {
    const { way, healthWay = way, healthPath } = copy;
    const status = await statusAt(healthWay, healthPath);
    if (status !== undefined && status < 500) {
      this.ill.delete(copy);
      return;
    }
    this.ill.add(copy);
    if (status === undefined) onSilent(way);
  }
}

/** Undefined if it does not answer in time. */
function statusAt(way: Way, path: string): Promise<number | undefined> {
  const where = 'path' in way ? { socketPath: way.path } : { ...way, host: '127.0.0.1' };
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const asked = request({ ...where, path, agent: false, signal }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', () => resolve(undefined)).end();
  });
}
