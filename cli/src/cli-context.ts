import type { Readable, Writable } from 'node:stream';
import type { Notices } from './output/notices.ts';

/** What a command has of the world around it: nothing in `cli/` but `main.ts` touches the process. */
export interface CliContext {
  env: Record<string, string | undefined>;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  notices: Notices;
  /** Aborts at the first signal to stop; its reason is the exit code. */
  interrupted: AbortSignal;
  /** For a command that may be silent for long: ends the process once nobody reads its output any more. */
  watchReader: () => void;
  /** What the process ends with, unless the command fails. */
  exitCode: number;
}
