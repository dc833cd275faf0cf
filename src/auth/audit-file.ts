import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { DestinationStream, Logger } from 'pino';
import { within } from '../platform/clock/within.ts';
import { createLogger } from '../platform/log/create-logger.ts';
import type { StateMetric } from '../platform/metrics/state-metric.ts';

const { O_WRONLY, O_CREAT, O_APPEND, O_NOCTTY, O_NONBLOCK } = constants;
/** O_NONBLOCK: the open of a pipe that nobody reads fails instead of waiting. It means nothing to a file. */
const FLAGS = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK;
/** Its owner writes it, and a group may read it. */
const MODE = 0o640;
const RETRY_MS = 1_000;
/** The most bytes that wait for a file that takes nothing. Lines beyond are dropped. */
const MAX_WAITING_BYTES = 4_194_304;
const NEW_LINE = 10;
/** How long the end of the process waits for a disk that takes nothing. */
const END_TIMEOUT_MS = 1_000;

/**
 * A file to which lines are appended. It is opened for the lines of each turn, so that after a rotation nobody has to tell it.
 * Nothing waits for the disk: while the file cannot be written, lines wait in memory. The log tells of a failure once, until the
 * file takes lines again.
 */
export class AuditFile implements DestinationStream {
  waitingBytes = 0;
  /** It does not follow the level of the log: a quiet log must not leave out the audit. */
  readonly logger = createLogger('info', this);
  private readonly path: string;
  private readonly log: Pick<Logger, 'error' | 'info'>;
  private readonly retryMs: number;
  private waiting: Buffer[] = [];
  private writing: Promise<void> | undefined;
  private droppedLines = 0;
  private untoldLines = 0;
  private isGood = true;
  private isOver = false;

  /** Throws a plain Error if it cannot be opened. */
  constructor(path: string, log: Pick<Logger, 'error' | 'info'>, retryMs = RETRY_MS) {
    this.path = path;
    this.log = log;
    this.retryMs = retryMs;
    try {
      closeSync(openSync(path, FLAGS, MODE));
    } catch (cause) {
      const { code = String(cause) } = cause as NodeJS.ErrnoException;
      throw new Error(`cannot append to the file of GATEWAY_AUDIT_FILE: ${code}`, { cause });
    }
    process.once('exit', this.flushSync);
  }

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_audit_file_good',
      help: 'Whether the last write to GATEWAY_AUDIT_FILE succeeded.',
      read: () => Number(this.isGood),
    },
    {
      name: 'gateway_audit_lines_dropped_total',
      help: 'Audit lines that were dropped because GATEWAY_AUDIT_FILE did not take those before them.',
      isCounter: true,
      read: () => this.droppedLines,
    },
  ];

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      this.droppedLines++;
      this.untoldLines++;
      return;
    }
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    this.writing ??= this.writeAll().finally(() => (this.writing = undefined));
  }

  /** Takes no more lines. Resolves when they are written, or when the file took none for this long. */
  async end(timeoutMs = END_TIMEOUT_MS): Promise<void> {
    this.isOver = true;
    if (this.writing) await within(timeoutMs, this.writing);
    process.off('exit', this.flushSync);
    const { waitingBytes } = this;
    if (waitingBytes > 0) this.log.error({ waitingBytes }, 'the last audit lines are lost');
  }

  /** The last lines of a failing process. */
  private readonly flushSync = (): void => {
    if (this.waiting.length === 0) return;
    const fd = openSync(this.path, FLAGS, MODE);
    writeSync(fd, Buffer.concat(this.waiting));
    closeSync(fd);
  };

  private async writeAll(): Promise<void> {
    await setImmediate();
    while (this.waiting.length > 0) {
      const lines = Buffer.concat(this.waiting.splice(0));
      const error = await this.append(lines);
      this.note(error);
      if (!error) continue;
      if (this.isOver) return;
      await sleep(this.retryMs, undefined, { ref: false });
    }
  }

  /** Keeps what the file did not take. A line of which a full disk took only the beginning is kept as a whole. */
  private async append(lines: Buffer): Promise<NodeJS.ErrnoException | undefined> {
    let writtenBytes = 0;
    try {
      const file = await open(this.path, FLAGS, MODE);
      try {
        while (writtenBytes < lines.length) {
          writtenBytes += (await file.write(lines, writtenBytes)).bytesWritten;
        }
      } finally {
        await file.close();
      }
      return undefined;
    } catch (error) {
      return error as NodeJS.ErrnoException;
    } finally {
      const taken = lines.subarray(0, writtenBytes).lastIndexOf(NEW_LINE) + 1;
      if (taken < lines.length) this.waiting.unshift(lines.subarray(taken));
      this.waitingBytes -= taken;
    }
  }

  private note(error: NodeJS.ErrnoException | undefined): void {
    const wasGood = this.isGood;
    this.isGood = error === undefined;
    if (wasGood && error) {
      this.log.error({ err: error }, 'GATEWAY_AUDIT_FILE takes no lines; they wait in memory');
    } else if (!wasGood && this.isGood) this.log.info('GATEWAY_AUDIT_FILE takes lines again');
    if (error || this.untoldLines === 0) return;
    const droppedLines = this.untoldLines;
    this.untoldLines = 0;
    this.log.error({ droppedLines }, 'audit lines are lost: GATEWAY_AUDIT_FILE took none');
    this.logger.error({ droppedLines }, 'lines are missing here: this file took none');
  }
}
