import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';
import { within } from '../clock/within.ts';
import { openStandardOutput, type OutputDescriptor } from './standard-output.ts';

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

/** The state of the log: dropped lines and waiting bytes. */
export interface LogCounts {
  /** The number of lines ever dropped. */
  readonly droppedLines: number;
  /** The bytes that the output has not accepted yet. */
  readonly waitingBytes: number;
}

/**
 * Standard output for log lines. The lines of one turn of the event loop are written together. Nothing waits for the
 * reader of the log. If a pipe or a disk is full, the write is retried from where it stopped. Lines are dropped and
 * counted while too many bytes wait.
 */
export class LogOutput implements DestinationStream, LogCounts {
  droppedLines = 0;
  /** Called with the number of lines that were dropped, when there is room again. */
  onRoom: (droppedLines: number) => void = () => undefined;
  private readonly output: OutputDescriptor;
  /** What is written now, and the lines that come after it. Node encodes a string while it writes it. */
  private piece: string | Buffer = '';
  private lines = '';
  /** Whether a thread writes the piece. */
  private isInBackground = false;
  private untoldLines = 0;
  private retryMs = MIN_RETRY_MS;
  private isDue = false;
  private isOver = false;
  private onAllWritten: () => void = () => undefined;

  constructor(output = openStandardOutput()) {
    this.output = output;
    process.once('exit', this.flushSync);
  }

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
    setImmediate(this.passOn);
  }

  /** Writes synchronously what the output accepts: the last lines of a failing process, which ends after it. */
  readonly flushSync = (): void => {
    if (this.isOver) return;
    // Its thread writes it.
    if (this.isInBackground) this.piece = '';
    const giveUpAtMs = performance.now() + FLUSH_TIMEOUT_MS;
    while (this.hasPiece()) {
      const error = this.writeNow();
      if (!error) continue;
      if (error.code !== 'EAGAIN' || performance.now() > giveUpAtMs) return;
      Atomics.wait(NEVER_WOKEN, 0, 0, FLUSH_PAUSE_MS);
    }
  };

  /**
   * Accepts no more lines. Resolves when the log is written, or when the output has accepted nothing for this long.
   */
  async end(timeoutMs: number): Promise<void> {
    this.isOver = true;
    if (this.waitingBytes === 0) return;
    await within(timeoutMs, new Promise<void>((resolve) => (this.onAllWritten = resolve)));
  }

  private readonly passOn = (): void => {
    while (this.hasPiece()) {
      if (this.output.isFile) {
        this.writeInBackground();
        return;
      }
      if (this.writeNow()) {
        this.retryLater();
        return;
      }
    }
    this.isDue = false;
    this.onAllWritten();
  };

  /** Whether something waits. It is the piece then. */
  private hasPiece(): boolean {
    if (this.piece.length === 0) {
      this.piece = this.lines;
      this.lines = '';
    }
    return this.piece.length > 0;
  }

  /**
   * For outputs that never block: it costs less than waking a thread. Returns the reason why nothing was accepted.
   */
  private writeNow(): NodeJS.ErrnoException | undefined {
    try {
      this.onWritten(writeSync(this.output.fd, this.piece as string));
      return undefined;
    } catch (error) {
      return error as NodeJS.ErrnoException;
    }
  }

  private writeInBackground(): void {
    this.isInBackground = true;
    write(this.output.fd, this.piece as string, (error, written) => {
      this.isInBackground = false;
      if (error) {
        this.retryLater();
        return;
      }
      this.onWritten(written);
      this.passOn();
    });
  }

  private onWritten(bytes: number): void {
    this.retryMs = MIN_RETRY_MS;
    this.piece = bytes < Buffer.byteLength(this.piece) ? bytesOf(this.piece).subarray(bytes) : '';
    if (this.untoldLines === 0 || this.waitingBytes > MAX_WAITING_BYTES / 2) return;
    const lines = this.untoldLines;
    this.untoldLines = 0;
    this.onRoom(lines);
  }

  private retryLater(): void {
    // Otherwise each try would encode it again.
    this.piece = bytesOf(this.piece);
    setTimeout(this.passOn, this.retryMs).unref();
    this.retryMs = Math.min(2 * this.retryMs, MAX_RETRY_MS);
  }
}

function bytesOf(piece: string | Buffer): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** The memory for `Atomics.wait`, which is used only to wait for time. */
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));
