import { join } from 'node:path';
import {
  startProcess,
  untilReady,
  type ProcessOptions,
  type RunningProcess,
} from '../../local/stack/process.ts';

const START_TIMEOUT_MS = 20_000;

export interface NodeProgram extends Pick<ProcessOptions, 'name' | 'readable'> {
  /** The file beside this one. */
  main: string;
  /** How the line begins by which it tells where it is. */
  ready: string;
}

export interface RunningNodeProgram {
  process: RunningProcess;
  /** By which it told where it is. */
  line: string;
}

/** Starts a program of this folder in a process of its own. */
export async function startNodeProgram({
  main,
  ready,
  ...options
}: NodeProgram): Promise<RunningNodeProgram> {
  const program = startProcess({
    ...options,
    command: process.execPath,
    args: [join(import.meta.dirname, main)],
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  });
  const line = await untilReady(program, START_TIMEOUT_MS, () =>
    program.waitForLine((text) => text.startsWith(ready)),
  );
  return { process: program, line };
}
