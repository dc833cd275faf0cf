import type { Readable, Writable } from 'node:stream';
import type { Notices } from './output/notices.ts';

/** The environment of a command. In `packages/cli/` only `main.ts` touches the process. */
export interface CliContext {
  env: Record<string, string | undefined>;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  notices: Notices;
  /** Aborts at the first stop signal. Its reason is the exit code. */
  interrupted: AbortSignal;
  /** For commands that have nothing to do but their output: ends the process at a write that nobody reads. */
  endWithReader: () => void;
  /** The same for commands with long silent periods: it does not wait for a write. */
  watchReader: () => void;
  /** The exit code, unless the command fails. */
  exitCode: number;
}
