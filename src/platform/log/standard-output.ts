import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { StateMetric } from '../metrics/state-metric.ts';
import { LineOutput, type Piece } from './line-output.ts';

const STDOUT = 1;
const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
const writeInBackground = promisify(write);

/** Standard output for the log of the process. */
export class StandardOutput extends LineOutput {
  /**
   * A write to a file may block for as long as its disk does. Writes to other outputs never block, and cost less than
   * to wake a thread.
   */
  private readonly isFile = fstatSync(STDOUT).isFile();
  private readonly fd = this.isFile ? STDOUT : withoutBlocking();

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_log_lines_dropped_total',
      help: 'Log lines that were dropped because standard output did not take those before them.',
      isCounter: true,
      read: () => this.droppedLines,
    },
    {
      name: 'gateway_log_waiting_bytes',
      help: 'Bytes of log lines that standard output has not taken yet; beyond 4 MiB lines are dropped.',
      read: () => this.waitingBytes,
    },
  ];

  protected append(piece: Piece): number | Promise<number> {
    if (!this.isFile) return this.appendSync(piece);
    return writeInBackground(this.fd, piece as string).then(({ bytesWritten }) => bytesWritten);
  }

  protected appendSync(piece: Piece): number {
    return writeSync(this.fd, piece as string);
  }
}

/**
 * Standard output, opened so that a write to a pipe, a socket or a terminal that nobody reads fails with EAGAIN. A
 * blocking write would block its thread, and Node waits for that thread at the end of the process.
 */
function withoutBlocking(): number {
  try {
    // The file is opened again, because O_NONBLOCK belongs to the open file and would also apply to other processes
    // that share the pipe.
    return openSync('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    // It is a socket, or there is no such path. Node's own stream sets O_NONBLOCK when it is first used.
    void process.stdout;
    return STDOUT;
  }
}
