import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Logger } from 'pino';
import { LineOutput, type Piece } from '../platform/log/line-output.ts';
import type { StateMetric } from '../platform/metrics/state-metric.ts';

const { O_WRONLY, O_CREAT, O_APPEND, O_NOCTTY, O_NONBLOCK } = constants;
/** O_NONBLOCK: the open of a pipe that nobody reads fails instead of waiting. It means nothing to a file. */
const FLAGS = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK;
/** Its owner writes it, and a group may read it. */
const MODE = 0o640;
/** How long the end of the process waits for a disk that takes nothing. */
const END_TIMEOUT_MS = 1_000;

/**
 * A file to which lines are appended. It is opened for the lines of each turn, so that after a rotation nobody has to tell it.
 * The log tells of a failure once, until the file takes lines again.
 */
export class AuditFile extends LineOutput {
  private readonly path: string;
  private readonly log: Pick<Logger, 'error' | 'info'>;
  private isGood = true;

  /** Throws a plain Error if it cannot be opened. */
  constructor(path: string, log: Pick<Logger, 'error' | 'info'>) {
    // It does not follow the level of the log: a quiet log must not leave out the audit.
    super('info');
    this.path = path;
    this.log = log;
    try {
      closeSync(openSync(path, FLAGS, MODE));
    } catch (cause) {
      const { code = String(cause) } = cause as NodeJS.ErrnoException;
      throw new Error(`cannot append to the file of GATEWAY_AUDIT_FILE: ${code}`, { cause });
    }
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

  override async end(timeoutMs = END_TIMEOUT_MS): Promise<void> {
    await super.end(timeoutMs);
    const { waitingBytes } = this;
    if (waitingBytes > 0) this.log.error({ waitingBytes }, 'the last audit lines are lost');
  }

  protected async append(piece: Piece): Promise<number> {
    try {
      const bytesWritten = await this.appendInBackground(piece);
      if (!this.isGood) this.log.info('GATEWAY_AUDIT_FILE takes lines again');
      this.isGood = true;
      return bytesWritten;
    } catch (error) {
      if (this.isGood) {
        this.log.error({ err: error }, 'GATEWAY_AUDIT_FILE takes no lines; they wait in memory');
      }
      this.isGood = false;
      throw error;
    }
  }

  private async appendInBackground(piece: Piece): Promise<number> {
    const file = await open(this.path, FLAGS, MODE);
    try {
      return (await file.write(piece as string)).bytesWritten;
    } finally {
      await file.close();
    }
  }

  protected appendSync(piece: Piece): number {
    const fd = openSync(this.path, FLAGS, MODE);
    try {
      return writeSync(fd, piece as string);
    } finally {
      closeSync(fd);
    }
  }

  protected override onRoom(droppedLines: number): void {
    this.log.error({ droppedLines }, 'audit lines are lost: GATEWAY_AUDIT_FILE took none');
    super.onRoom(droppedLines);
  }
}
