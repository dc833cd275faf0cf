import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const LAST_LINES_KEPT = 20;
const DEFAULT_GRACE_MS = 3_000;
/** For `untilReady`. A bound for what never comes: a slow disk, or other work on the machine, makes a start long. */
export const READY_TIMEOUT_MS = 60_000;

export interface ProcessOptions {
  /** The name of the process in messages. */
  name: string;
  command: string;
  args?: string[];
  /** The whole environment of the process. Nothing is inherited. */
  env: NodeJS.ProcessEnv;
  /** The form in which an output line is shown and remembered. By default it is unchanged; undefined drops it. */
  readable?: (line: string) => string | undefined;
  /** Receives each line as `readable` gives it. */
  onLine?: (line: string) => void;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunningPart {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the process has ended and all its output has been read. */
  readonly exited: Promise<Exit>;
  /** The newest readable output, at most 20 lines. */
  lastLines(): string[];
  /** Sends SIGTERM, and SIGKILL after the grace period, to the process and all its descendants. */
  stop(graceMs?: number): Promise<void>;
}

export interface RunningProcess extends RunningPart {
  /** The next line that matches, if there is one: see `untilReady`. */
  waitForLine(matches: (line: string) => boolean): Promise<string>;
  /** Sends SIGKILL to the process and all its descendants. */
  kill(): Promise<void>;
}

/** A process that should have kept running has ended. */
export class ProcessEndedError extends Error {
  constructor(process: RunningPart, exit: Exit) {
    const how = exit.signal ? `by ${exit.signal}` : `with exit code ${exit.code}`;
    super(`${process.name} ended ${how}. ${lastWords(process)}`);
  }
}

/** Starts a process that ends with this one, however this one ends. */
export function startProcess(options: ProcessOptions): RunningProcess {
  const { name } = options;
  // It has a process group of its own: Ctrl-C in the terminal reaches only this process, which stops the parts in
  // order, and one signal to the group reaches all descendants.
  const child = spawn(options.command, options.args ?? [], {
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = child.pid;
  if (pid === undefined) {
    child.on('error', () => {});
    throw new Error(`${name} cannot be started: ${options.command}`);
  }
  const dismissWatchdog = setWatchdog(pid);
  child.on('exit', () => {
    // A remaining grandchild would keep the output open and its port in use.
    signalGroup(pid, 'SIGKILL');
    dismissWatchdog();
  });
  const exited = new Promise<Exit>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  const signalIfRunning = (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) signalGroup(pid, signal);
  };
  return {
    name,
    pid,
    exited,
    ...readOutput([child.stdout, child.stderr], options),
    stop: async (graceMs = DEFAULT_GRACE_MS) => {
      signalIfRunning('SIGTERM');
      const timer = setTimeout(() => signalIfRunning('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
    kill: async () => {
      signalIfRunning('SIGKILL');
      await exited;
    },
  };
}

function readOutput(
  outputs: Readable[],
  { readable = (line) => line, onLine }: ProcessOptions,
): Pick<RunningProcess, 'lastLines' | 'waitForLine'> {
  const lines: string[] = [];
  const rawListeners = new Set<(line: string) => void>();
  for (const output of outputs) {
    createInterface({ input: output }).on('line', (rawLine) => {
      for (const listener of rawListeners) listener(rawLine);
      const line = readable(rawLine);
      if (line === undefined) return;
      lines.push(line);
      if (lines.length > LAST_LINES_KEPT) lines.shift();
      onLine?.(line);
    });
  }
  return {
    lastLines: () => [...lines],
    waitForLine: (matches) =>
      new Promise((resolve) => {
        const listener = (line: string) => {
          if (!matches(line)) return;
          rawListeners.delete(listener);
          resolve(line);
        };
        rawListeners.add(listener);
      }),
  };
}

/**
 * Resolves with the result of `ready`. Kills the process, aborts `ready` and rejects if the process ends first or
 * is not ready in time.
 */
export async function untilReady<T>(
  process: RunningProcess,
  timeoutMs: number,
  ready: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const givenUp = new AbortController();
  const timer = setTimeout(() => givenUp.abort(), timeoutMs);
  const tooLate = new Promise<never>((_, reject) => {
    givenUp.signal.addEventListener('abort', () => {
      reject(new Error(`${process.name} was not ready in ${timeoutMs} ms. ${lastWords(process)}`));
    });
  });
  try {
    return await Promise.race([ready(givenUp.signal), rejectWhenEnded(process), tooLate]);
  } catch (error) {
    await process.kill();
    throw error;
  } finally {
    clearTimeout(timer);
    givenUp.abort();
  }
}

/** Rejects with a ProcessEndedError as soon as the process ends. */
export async function rejectWhenEnded(process: RunningPart): Promise<never> {
  throw new ProcessEndedError(process, await process.exited);
}

function lastWords(process: RunningPart): string {
  const lines = process.lastLines();
  return lines.length > 0 ? `Its last lines:\n  ${lines.join('\n  ')}` : 'It said nothing.';
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // macOS returns EPERM for a group whose last processes have ended but are not reaped yet.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/**
 * A shell that waits for the end of its input and then kills the group. The input ends when this process dies, even
 * by SIGKILL (no `--`: dash does not support it). Node cannot set PR_SET_PDEATHSIG, and macOS lacks it.
 */
function setWatchdog(groupPid: number): () => void {
  const script = `read -r _; kill -9 -${groupPid}`;
  const watchdog = spawn('/bin/sh', ['-c', script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.on('error', () => {});
  watchdog.unref();
  return () => watchdog.kill('SIGKILL');
}
