import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { Changes } from './changes.ts';
import { API_KEY } from './credentials.ts';
import { awaited } from './until.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'packages/cli/dist/packages/cli/src/main.js');
/** Where a user's shell finds the command line, and the Node of the project. */
const FOLDERS = [join(ROOT, 'packages/cli/bin'), join(ROOT, 'node_modules/.bin')];

export interface CliOptions {
  /** Added to an environment that is empty but for what a process needs. */
  env?: Record<string, string>;
  /** For standard input, which is empty otherwise. */
  input?: string | Uint8Array;
  cwd?: string;
}

/** The result of a run of the command line. */
export interface CliResult {
  code: number | null;
  out: string;
  err: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  /** Standard output so far. */
  readonly out: string;
  readonly err: string;
  /** Fulfils once this holds for what has been written; rejects if it ends before. */
  until(holds: (cli: { out: string; err: string }) => boolean): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<CliResult>;
}

const running = new Set<ChildProcess>();

/** The environment for this gateway, with the API key of the tests. The gateway may start later. */
export function reaches(gateway: { readonly url: string }): Record<string, string> {
  return {
    get AGENT_GATEWAY_URL() {
      return gateway.url;
    },
    AGENT_GATEWAY_KEY: API_KEY,
  };
}

/** Starts the built command line. `killAllClis` kills every one that still runs. */
export function startCli(args: string[], options: CliOptions = {}): RunningCli {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd,
    env: {
      PATH: process.env.PATH,
      // No profile of whoever runs the tests.
      HOME: '/nonexistent',
      TZ: 'UTC',
      ...options.env,
    },
    stdio: 'pipe',
  });
  running.add(child);
  const said = { out: '', err: '' };
  const changes = new Changes();
  for (const [name, stream] of [
    ['out', child.stdout],
    ['err', child.stderr],
  ] as const) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      changes.tell();
    });
  }
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      running.delete(child);
      resolve({ code, ...said });
    });
  });
  return {
    child,
    get out() {
      return said.out;
    },
    get err() {
      return said.err;
    },
    until: async (holds) => {
      const seen = Promise.race([changes.until(() => holds(said)), ended]);
      await awaited(() => `${String(holds)}, after ${JSON.stringify(said)}`, seen);
      if (!holds(said)) throw new Error(`ended: ${JSON.stringify(await ended)}`);
    },
    signal: (signal) => void child.kill(signal),
    ended,
  };
}

/** Runs the command line until it exits. */
export function runCli(args: string[], options?: CliOptions): Promise<CliResult> {
  return startCli(args, options).ended;
}

/** Runs a line as a user types it into a shell, whose home is this folder. */
export function typeInShell(
  line: string,
  home: string,
  env: Record<string, string>,
): Promise<CliResult> {
  const PATH = [...FOLDERS, process.env.PATH].join(delimiter);
  const options = { cwd: home, env: { PATH, HOME: home, TZ: 'UTC', ...env } };
  return new Promise((resolve) => {
    const args = ['-o', 'pipefail', '-c', line];
    const shell = execFile('bash', args, options, (error, out, err) => {
      // One that a signal has ended has no code.
      resolve({ code: error ? Number(error.code ?? 128) : 0, out, err });
    });
    shell.stdin?.end();
  });
}

/** What was printed as JSON, a line each. A line that is not whole yet is left out. */
export function jsonLines<Line>(out: string): Line[] {
  const lines = out.split('\n').filter((line) => line.endsWith('}'));
  return lines.map((line) => JSON.parse(line) as Line);
}

export async function killAllClis(): Promise<void> {
  const left = [...running];
  for (const child of left) child.kill('SIGKILL');
  await Promise.all(left.map((child) => new Promise((resolve) => child.on('close', resolve))));
}
