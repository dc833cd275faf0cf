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
  /** For commands with long silent periods: ends the process when nobody reads its output any more. */
  watchReader: () => void;
  /** The exit code, unless the command fails. */
  exitCode: number;
}
