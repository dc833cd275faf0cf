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
 * Standard output, opened so that a write to a pipe, a socket or a terminal that nobody reads fails with EAGAIN. A
 * blocking write would block its thread, and Node waits for that thread at the end of the process.
 */
export function openStandardOutput(): OutputDescriptor {
  if (fstatSync(STDOUT).isFile()) return { fd: STDOUT, isFile: true };
  try {
    // Opened again, because O_NONBLOCK belongs to the open file: it would also apply to other processes that share this pipe.
    const fd = openSync('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY);
    return { fd, isFile: false };
  } catch {
    // A socket, or no such path. Node's own stream for it, made when it is first looked at, sets O_NONBLOCK.
    void process.stdout;
    return { fd: STDOUT, isFile: false };
  }
}
