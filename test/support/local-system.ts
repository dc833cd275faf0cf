import { join } from 'node:path';
import { startProcess, untilReady, type RunningProcess } from '../../local/stack/process.ts';

const MAIN = join(import.meta.dirname, '../../local/main.ts');
/** A bound for what never comes: a machine that runs other suites builds, and starts six processes, slowly. */
const READY_TIMEOUT_MS = 150_000;
/**
 * The system gives its parts 3 s and kills those that still run. A system that is killed meanwhile leaves parts that write into the
 * folder that the test removes.
 */
const STOP_GRACE_MS = 30_000;
/** The assistant takes little time between two words, but enough for a test to interrupt it. */
const WORD_DELAY_MS = 5;

export interface LocalSystem {
  readonly process: RunningProcess;
  stop(): Promise<void>;
  /** All that it has said, a line each. */
  readonly said: string[];
  /** The printed base address and key. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** What it printed to be pasted. */
  readonly commands: string[];
  /** The variables that it printed for another terminal. */
  readonly exported: Record<string, string | undefined>;
  /** The group of the last line that matches. Throws an Error where none does. */
  printed: (pattern: RegExp) => string;
  /** The process id of one of its parts, of the last start of it. */
  partPid: (name: string) => number;
  /** With the printed key. */
  get: (path: string) => Promise<Response>;
}

/** Runs `local/main.ts` on free ports, with its data in that folder, until it says it is ready. */
export async function startLocalSystem(dataDir: string, ...args: string[]): Promise<LocalSystem> {
  return untilItIsReady((onLine) => runMain(dataDir, args, onLine));
}

/** The same with an assistant that talks as slowly as this, so that an answer does not end before a test has looked at it. */
export async function startSlowSystem(dataDir: string, wordDelayMs: number): Promise<LocalSystem> {
  return untilItIsReady((onLine) => runMain(dataDir, [], onLine, wordDelayMs));
}

/** The same as the README says it. */
export async function startSystemByNpm(dataDir: string): Promise<LocalSystem> {
  return untilItIsReady((onLine) =>
    startProcess({
      name: 'npm run local',
      command: 'npm',
      args: ['run', 'local', '--', '--any-ports', '--data', dataDir],
      env: { ...process.env, NO_COLOR: '1' },
      onLine,
    }),
  );
}

async function untilItIsReady(
  run: (onLine: (line: string) => void) => RunningProcess,
): Promise<LocalSystem> {
  const said: string[] = [];
  const main = run((line) => said.push(line));
  await untilReady(main, READY_TIMEOUT_MS, () =>
    main.waitForLine((line) => line.startsWith('Ctrl-C')),
  );
  const find = (pattern: RegExp) => {
    const match = said.map((line) => pattern.exec(line)?.[1]).findLast(Boolean);
    if (!match) throw new Error(`Nothing said matches ${pattern}:\n${said.join('\n')}`);
    return match;
  };
  const baseUrl = find(/^The gateway is at (\S+)$/);
  const apiKey = find(/^Development API key: (\S+)$/);
  return {
    process: { ...main, stop: (graceMs = STOP_GRACE_MS) => main.stop(graceMs) },
    stop: () => main.stop(STOP_GRACE_MS),
    said,
    printed: find,
    baseUrl,
    apiKey,
    commands: said.filter((line) => line.startsWith('  curl ')),
    exported: Object.fromEntries(
      [...said.join('\n').matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    ),
    partPid: (name) => Number(find(new RegExp(`${name} is ready \\(pid (\\d+)\\)`))),
    get: (path) => fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` } }),
  };
}

/** Runs `local/main.ts` when it is expected to fail. */
export function runMain(
  dataDir: string,
  args: string[],
  onLine: (line: string) => void = () => {},
  wordDelayMs = WORD_DELAY_MS,
): RunningProcess {
  return startProcess({
    name: 'npm run local',
    command: process.execPath,
    args: [MAIN, '--any-ports', '--data', dataDir, ...args],
    // What a shell has set for another gateway is not for this one.
    env: {
      ...process.env,
      AGENT_WORD_DELAY_MS: String(wordDelayMs),
      GATEWAY_TENANT: 'of-another-gateway',
    },
    onLine,
  });
}

/** Reads a response until a text has come. */
export async function untilTextComes(response: Response, text: string): Promise<void> {
  let read = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    read += decoder.decode(chunk, { stream: true });
    if (read.includes(text)) return;
  }
  throw new Error(`The answer ended (${response.status}) without ${text}: ${read}`);
}
