import { constants, fstatSync, openSync } from 'node:fs';

/** Where the log is written to. */
export interface OutputDescriptor {
  fd: number;
  /** A file, to which a write may take as long as its disk does; nothing else lets a write wait. */
  isFile: boolean;
}

const STDOUT = 1;
const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * Standard output, opened so that a write to a pipe, a socket or a terminal that nobody reads fails with EAGAIN. One
 * that waits instead holds up the thread that makes it, and Node waits for that thread when the process is to end.
 */
export function openStandardOutput(): OutputDescriptor {
  if (fstatSync(STDOUT).isFile()) return { fd: STDOUT, isFile: true };
  try {
    // Opened anew, as not to wait is not a matter of the descriptor: whoever shares this pipe would not wait either.
    const fd = openSync('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY);
    return { fd, isFile: false };
  } catch {
    // A socket, or no such path. Node's own stream for it, made when it is first looked at, sets O_NONBLOCK.
    void process.stdout;
    return { fd: STDOUT, isFile: false };
  }
}
