import { setTimeout as sleep } from 'node:timers/promises';
import type { DestinationStream, Logger } from 'pino';
import { within } from '../clock/within.ts';
import type { StateMetric } from '../metrics/state-metric.ts';
import { createLogger } from './create-logger.ts';
import type { LogLevel } from './log-level.ts';

/**
 * The most bytes that wait for a full output, at one byte a character. Beyond it lines are dropped, until half of them are
 * written.
 */
const MAX_WAITING_BYTES = 4_194_304;
/** How long to wait before the next write to a full output. The wait grows each time. */
const MIN_RETRY_MS = 2;
const MAX_RETRY_MS = 100;
/** How long a failing process waits for a full output. */
const FLUSH_TIMEOUT_MS = 200;
const FLUSH_PAUSE_MS = 5;

/** A text, or the bytes of it that an output has not taken yet. Node encodes a string while it writes it. */
export type Piece = string | Buffer;

/**
 * An output for log lines. The lines of one turn of the event loop are written together. Nothing waits for the output: if
 * it is full, the write is retried from where it stopped. Lines are dropped and counted while too many bytes wait.
 */
export abstract class LineOutput implements DestinationStream {
  readonly logger: Logger;
  protected droppedLines = 0;
  /** What is written now, and the lines that come after it. */
  private piece: Piece = '';
  private lines = '';
  /** Whether a thread writes the piece. */
  private isInBackground = false;
  private untoldLines = 0;
  private isDue = false;
  private isOver = false;
  private onAllWritten: () => void = () => undefined;

  constructor(level: LogLevel) {
    this.logger = createLogger(level, this);
    process.once('exit', this.flushSync);
  }

  /** What the object exports of its state. */
  abstract readonly metrics: readonly StateMetric[];

  /** Writes a piece without blocking. Returns how many bytes were accepted; fails if none were. */
  protected abstract append(piece: Piece): number | Promise<number>;

  /** The same for a process that ends. It may block. */
  protected abstract appendSync(piece: Piece): number;

  /** The bytes that the output has not accepted yet. */
  get waitingBytes(): number {
    return this.piece.length + this.lines.length;
  }

  write(line: string): void {
    if (this.isOver) return;
    if (this.untoldLines > 0 || this.waitingBytes + line.length > MAX_WAITING_BYTES) {
      this.droppedLines++;
      this.untoldLines++;
      return;
    }
    this.lines += line;
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(() => void this.writeAll());
  }

  /** Writes synchronously what the output accepts: the last lines of a failing process, which ends after it. */
  readonly flushSync = (): void => {
    // Its thread writes it.
    if (this.isInBackground) this.piece = '';
    const giveUpAtMs = performance.now() + FLUSH_TIMEOUT_MS;
    while (this.hasPiece()) {
      try {
        this.onWritten(this.appendSync(this.piece));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'EAGAIN' || performance.now() > giveUpAtMs) return;
        Atomics.wait(NEVER_WOKEN, 0, 0, FLUSH_PAUSE_MS);
      }
    }
  };

  /**
   * Accepts no more lines. Resolves when all are written, or when the output has accepted nothing for this long.
   */
  async end(timeoutMs: number): Promise<void> {
    this.isOver = true;
    process.off('exit', this.flushSync);
    if (this.waitingBytes === 0) return;
    await within(timeoutMs, new Promise<void>((resolve) => (this.onAllWritten = resolve)));
  }

  /** There is room again behind this many dropped lines. */
  protected onRoom(droppedLines: number): void {
    this.logger.error({ droppedLines }, 'lines are missing here: this output took none');
  }

  private async writeAll(): Promise<void> {
    let retryMs = MIN_RETRY_MS;
    while (this.hasPiece()) {
      try {
        const written = this.append(this.piece);
        this.isInBackground = typeof written !== 'number';
        this.onWritten(typeof written === 'number' ? written : await written);
        retryMs = MIN_RETRY_MS;
      } catch {
        this.isInBackground = false;
        // Otherwise each try would encode it again.
        this.piece = bytesOf(this.piece);
        await sleep(retryMs, undefined, { ref: false });
        retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
      }
    }
    this.isDue = false;
    this.onAllWritten();
  }

  /** Whether something waits. It is the piece then. */
  private hasPiece(): boolean {
    if (this.piece.length === 0) {
      this.piece = this.lines;
      this.lines = '';
    }
    return this.piece.length > 0;
  }

  private onWritten(bytes: number): void {
    this.isInBackground = false;
    this.piece = bytes < Buffer.byteLength(this.piece) ? bytesOf(this.piece).subarray(bytes) : '';
    if (this.untoldLines === 0 || this.waitingBytes > MAX_WAITING_BYTES / 2) return;
    const lines = this.untoldLines;
    this.untoldLines = 0;
    this.onRoom(lines);
  }
}

function bytesOf(piece: Piece): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** The memory for `Atomics.wait`, which is used only to wait for time. */
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));
