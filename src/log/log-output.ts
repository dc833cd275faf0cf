import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino, type DestinationStream } from 'pino';

const BLOCK_BYTES = 65_536;
/** A character of a line takes three bytes in UTF-8 at most; those that take four are two. */
const MAX_BYTES_PER_CHARACTER = 3;
/**
 * How long the end waits for a log that is read slowly. Where nobody reads a pipe that is full, Node itself
 * waits for the write that is under way when it exits, until it is killed (seen on Node 24).
 */
const END_TIMEOUT_MS = 1_000;

/**
 * Standard output for log lines, written in the background, those of one turn of the event loop together.
 * Lines are put into a block of bytes as they come: to pass on each as a string, to be measured, joined and
 * encoded later, and to wake a thread for it, costs more than to make it.
 */
export class LogOutput implements DestinationStream {
  private readonly output = destination({ sync: false });
  private block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  /** In the block: what has been passed on, and what has been put there. */
  private passed = 0;
  private filled = 0;
  private isDue = false;
  private isOver = false;

  constructor() {
    process.once('exit', () => this.flushSync());
  }

  write(line: string): void {
    if (this.isOver) return;
    const mostBytes = line.length * MAX_BYTES_PER_CHARACTER;
    if (this.filled + mostBytes > this.block.length) this.nextBlock(mostBytes);
    this.filled += this.block.write(line, this.filled);
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(this.passOn);
  }

  /** Writes what there is before it returns: the last words of a process that fails. */
  flushSync(): void {
    if (this.isOver) return;
    this.output.flushSync();
    // What the other one gets now would be handed to a thread, which may be too late.
    this.passTo(destination({ sync: true }));
  }

  /**
   * Resolves when the log is out. It is written in the background: to exit on it would write what waits
   * ahead of what is on its way, or lose that.
   */
  async end(): Promise<void> {
    this.passOn();
    this.isOver = true;
    const closed = once(this.output, 'close').catch(() => undefined);
    this.output.end();
    await Promise.race([closed, sleep(END_TIMEOUT_MS)]);
  }

  private readonly passOn = (): void => {
    this.isDue = false;
    this.passTo(this.output);
  };

  private passTo(output: Destination): void {
    if (this.filled === this.passed) return;
    // Typed for strings alone; in this mode it takes bytes.
    output.write(this.block.subarray(this.passed, this.filled) as unknown as string);
    this.passed = this.filled;
  }

  private nextBlock(bytes: number): void {
    this.passOn();
    // Not the old one again: it may be on its way still.
    this.block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, bytes));
    this.passed = 0;
    this.filled = 0;
  }
}

type Destination = ReturnType<typeof pino.destination>;

function destination({ sync }: { sync: boolean }): Destination {
  return pino.destination({ dest: 1, sync, contentMode: 'buffer' });
}
