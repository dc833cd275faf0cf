import { pino, type DestinationStream, type Logger } from 'pino';

/**
 * Lines of a logger at level `info` whose members are JSON already. For the one line that every request
 * has: pino examines each member of an object every time, which makes that line five times as dear, a twelfth of the
 * processor time of a read.
 */
export class InfoLines {
  private readonly logger: Logger;
  private readonly destination: DestinationStream;
  /** What each line has after its time, as JSON with a leading comma. */
  private readonly bindings: string;
  /** What lines written in this millisecond begin with. */
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

  /** Writes a line. `members` are those of a JSON object, each with a comma ahead, `message` is plain. */
  write(members: string, message: string): void {
    const nowMs = Date.now();
    if (nowMs !== this.beginningMs) {
      this.beginning = `{"level":"info"${pino.stdTimeFunctions.isoTime()}${this.bindings}`;
      this.beginningMs = nowMs;
    }
    this.destination.write(`${this.beginning}${members},"message":"${message}"}\n`);
  }
}
