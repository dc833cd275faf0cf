import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';
import { within } from '../clock/within.ts';
import { openStandardOutput, type OutputDescriptor } from './standard-output.ts';

const BLOCK_BYTES = 65_536;
/** A UTF-16 code unit takes three bytes in UTF-8 at most. */
const MAX_BYTES_PER_CHARACTER = 3;
/** The most bytes that wait for a full output. Beyond it lines are dropped, until half of the bytes are written. */
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

/** A block of memory for lines, and how much of it is filled. */
interface Block {
  readonly bytes: Buffer;
  filled: number;
}

/**
 * Standard output for log lines. The lines of one turn of the event loop are written together. Each line is
 * encoded into a block of bytes at once, because measuring, joining and encoding strings later costs more than
 * making them.
 *
 * Nothing waits for the reader of the log. If a pipe or a disk is full, the write is retried from where it
 * stopped. Lines are dropped and counted while too many bytes wait.
 */
export class LogOutput implements DestinationStream, LogCounts {
  droppedLines = 0;
  waitingBytes = 0;
  /** Called with the number of lines that were dropped, when there is room again. */
  onRoom: (droppedLines: number) => void = () => undefined;
  private readonly output: OutputDescriptor;
  /** The blocks in order, oldest first. Lines are written into the last one. Never empty. */
  private readonly blocks: Block[] = [newBlock()];
  /** How many bytes of the first block have been written. */
  private writtenOfFirst = 0;
  /** The current write in the background, if there is one. */
  private pendingWrite: { bytes: number } | undefined;
  private untoldLines = 0;
  private retryMs = MIN_RETRY_MS;
  private isDue = false;
  private isOver = false;
  private onAllWritten: () => void = () => undefined;

  constructor(output = openStandardOutput()) {
    this.output = output;
    process.once('exit', this.flushSync);
  }

  write(line: string): void {
    if (this.isOver) return;
    const mostBytes = line.length * MAX_BYTES_PER_CHARACTER;
    if (this.untoldLines > 0 || this.waitingBytes + mostBytes > MAX_WAITING_BYTES) {
      this.droppedLines++;
      this.untoldLines++;
      return;
    }
    let block = this.blocks.at(-1) as Block;
    if (block.filled + mostBytes > block.bytes.length) {
      this.blocks.push((block = newBlock(mostBytes)));
    }
    const bytes = block.bytes.write(line, block.filled);
    block.filled += bytes;
    this.waitingBytes += bytes;
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(this.passOn);
  }

  /** Writes synchronously what the output accepts: the last lines of a failing process. */
  readonly flushSync = (): void => {
    if (this.isOver) return;
    this.leaveWrite();
    const giveUpAtMs = performance.now() + FLUSH_TIMEOUT_MS;
    while (this.waitingBytes > 0) {
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
    if (this.output.isFile) {
      this.writeInBackground();
      return;
    }
    while (this.waitingBytes > 0) {
      if (this.writeNow()) {
        this.retryLater();
        return;
      }
    }
    this.rest();
  };

  /**
   * For outputs that never block: it costs less than waking a thread. Returns the reason why nothing was accepted.
   */
  private writeNow(): NodeJS.ErrnoException | undefined {
    const { bytes, filled } = this.blocks[0] as Block;
    try {
      const { writtenOfFirst } = this;
      this.onWritten(writeSync(this.output.fd, bytes, writtenOfFirst, filled - writtenOfFirst));
      return undefined;
    } catch (error) {
      return error as NodeJS.ErrnoException;
    }
  }

  private writeInBackground(): void {
    if (this.waitingBytes === 0) this.rest();
    if (this.waitingBytes === 0 || this.pendingWrite) return;
    const { bytes, filled } = this.blocks[0] as Block;
    const pendingWrite = { bytes: filled - this.writtenOfFirst };
    this.pendingWrite = pendingWrite;
    write(
      this.output.fd,
      bytes,
      this.writtenOfFirst,
      pendingWrite.bytes,
      null,
      (error, written) => {
        if (this.pendingWrite !== pendingWrite) return;
        this.pendingWrite = undefined;
        if (!error) this.onWritten(written);
        if (error) this.retryLater();
        else this.writeInBackground();
      },
    );
  }

  private onWritten(bytes: number): void {
    this.retryMs = MIN_RETRY_MS;
    this.waitingBytes -= bytes;
    this.writtenOfFirst += bytes;
    if (this.writtenOfFirst === this.blocks[0]?.filled) this.dropFirst();
    if (this.untoldLines === 0 || this.waitingBytes > MAX_WAITING_BYTES / 2) return;
    const lines = this.untoldLines;
    this.untoldLines = 0;
    this.onRoom(lines);
  }

  private dropFirst(): void {
    const [first] = this.blocks;
    this.writtenOfFirst = 0;
    if (this.blocks.length > 1) this.blocks.shift();
    else if (first?.bytes.length === BLOCK_BYTES) first.filled = 0;
    else this.blocks[0] = newBlock();
  }

  private retryLater(): void {
    setTimeout(this.passOn, this.retryMs).unref();
    this.retryMs = Math.min(2 * this.retryMs, MAX_RETRY_MS);
  }

  private rest(): void {
    this.isDue = false;
    this.onAllWritten();
  }

  /** Leaves the current write and its memory to its thread, and writes the rest in another way. */
  private leaveWrite(): void {
    const { pendingWrite, blocks } = this;
    const [first] = blocks;
    if (!pendingWrite || !first) return;
    this.pendingWrite = undefined;
    const rest = first.bytes.subarray(this.writtenOfFirst + pendingWrite.bytes, first.filled);
    blocks[0] = { bytes: Buffer.from(rest), filled: rest.length };
    this.writtenOfFirst = 0;
    this.waitingBytes -= pendingWrite.bytes;
    if (rest.length === 0) this.dropFirst();
    this.retryLater();
  }
}

function newBlock(bytes = 0): Block {
  return { bytes: Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, bytes)), filled: 0 };
}

/** The memory for `Atomics.wait`, which is used only to wait for time. */
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));
