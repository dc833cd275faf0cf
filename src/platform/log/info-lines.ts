import { pino, type DestinationStream, type Logger } from 'pino';

/**
 * Writes log lines at level `info` from members that are JSON already. Every request has such a line. pino examines
 * each member of an object every time, which makes the line five times as expensive, a twelfth of the processor
 * time of a read.
 */
export class InfoLines {
  private readonly logger: Logger;
  private readonly destination: DestinationStream;
  /** The part of each line after its time, as JSON with a leading comma. */
  private readonly bindings: string;
  /** The beginning of all lines of the current millisecond. */
  private beginning = '';
  private beginningMs = -1;

  /** `bindings` are members of each line; see `infoLines` in `create-logger.ts`. */
  constructor(
    logger: Logger,
    destination: DestinationStream,
    bindings: Readonly<Record<string, string>>,
  ) {
    this.logger = logger;
    this.destination = destination;
    this.bindings = `,${JSON.stringify(bindings).slice(1, -1)}`;
  }

  get isOn(): boolean {
    return this.logger.isLevelEnabled('info');
  }

  /** Writes a line. `members` are JSON members, each with a leading comma. `message` is plain text. */
  write(members: string, message: string): void {
    const nowMs = Date.now();
    if (nowMs !== this.beginningMs) {
      this.beginning = `{"level":"info"${pino.stdTimeFunctions.isoTime()}${this.bindings}`;
      this.beginningMs = nowMs;
    }
    this.destination.write(`${this.beginning}${members},"message":"${message}"}\n`);
  }
}
