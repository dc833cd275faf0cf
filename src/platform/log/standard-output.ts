import { constants, fstatSync, openSync } from 'node:fs';

/** The output of the log. */
export interface OutputDescriptor {
  fd: number;
  /**
   * Whether it is a file. A write to a file may block for as long as its disk does; writes to other outputs never
   * block.
   */
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
    // The file is opened again, because O_NONBLOCK belongs to the open file and would also apply to other processes
    // that share the pipe.
    const fd = openSync('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY);
    return { fd, isFile: false };
  } catch {
    // It is a socket, or there is no such path. Node's own stream sets O_NONBLOCK when it is first used.
    void process.stdout;
    return { fd: STDOUT, isFile: false };
  }
}
