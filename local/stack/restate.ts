import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { awaitOk } from './await-ok.ts';
import { openDoor, type Door } from './door.ts';
import {
  READY_TIMEOUT_MS,
  startProcess,
  untilReady,
  type RunningPart,
  type RunningProcess,
} from './process.ts';

export interface RestateOptions {
  dataDir: string;
  /** 0 or undefined means a free port. */
  ingressPort?: number;
  adminPort?: number;
  /** It listens on Unix sockets, with doors at its ports for callers with this credential. Without it on TCP, for all. */
  credential?: string;
  /** Receives Restate's warnings and errors, line by line. */
  onOutput?: (line: string) => void;
}

export interface RunningRestate extends RunningPart {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  /** The id of the current process. It changes with `restart`. */
  readonly pid: number;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Stops it if it runs, and starts it again with the same ports and data. */
  restart(): Promise<void>;
}

/** The listeners of one Restate, as its log names them. */
const LISTENERS = {
  ingress: 'http-ingress-server',
  admin: 'admin-api-server',
};
/** What Linux and macOS allow (`sun_path`, with a zero byte at its end). */
const MAX_SOCKET_PATH_BYTES = process.platform === 'darwin' ? 103 : 107;
type Ports = Record<keyof typeof LISTENERS, number>;

/** Starts the Restate server of `@restatedev/restate-server`. Resolves when it accepts requests. */
export async function startRestate(options: RestateOptions): Promise<RunningRestate> {
  let running = await launch(options, {
    ingress: options.ingressPort ?? 0,
    admin: options.adminPort ?? 0,
  });
  const { ports } = running;
  return {
    name: 'restate',
    ingressUrl: `http://127.0.0.1:${ports.ingress}`,
    adminUrl: `http://127.0.0.1:${ports.admin}`,
    get pid() {
      return running.process.pid;
    },
    get exited() {
      return running.process.exited;
    },
    lastLines: () => running.process.lastLines(),
    stop: (graceMs) => running.process.stop(graceMs),
    kill: () => running.process.kill(),
    restart: async () => {
      await running.process.stop();
      running = await launch(options, ports);
    },
  };
}

async function launch(
  options: RestateOptions,
  wanted: Ports,
): Promise<{ process: RunningProcess; ports: Ports }> {
  const dataDir = resolve(options.dataDir);
  const tooLong = Buffer.byteLength(socketPath(dataDir, 'ingress')) - MAX_SOCKET_PATH_BYTES;
  if (options.credential !== undefined && tooLong > 0) {
    throw new Error(
      `The path of the data folder is ${tooLong} bytes too long for Restate's Unix sockets. Name a shorter one with --data DIR.`,
    );
  }
  const temporaryDir = join(dataDir, 'tmp');
  await mkdir(temporaryDir, { recursive: true });

  const restate = startProcess({
    name: 'restate',
    command: binaryPath(),
    args: [
      '--no-logo',
      `--base-dir=${join(dataDir, 'data')}`,
      // The data belong to the node's name, which would otherwise be the machine's.
      '--node-name=local',
      `--listen-mode=${options.credential === undefined ? 'tcp' : 'unix'}`,
      '--bind-ip=127.0.0.1',
      '--use-random-ports=true',
    ],
    env: environment(temporaryDir, wanted),
    readable,
    onLine: options.onOutput,
  });
  const { credential } = options;
  const doors: Door[] = [];
  void restate.exited.then(() => doors.forEach((door) => void door.close()));
  const ports = await untilReady(restate, READY_TIMEOUT_MS, async (signal) => {
    const open = async (listener: keyof Ports): Promise<number> => {
      const line = await listeningLine(restate, LISTENERS[listener]);
      if (credential === undefined) return Number(line.span?.['server.port']);
      doors.push(await openDoor(wanted[listener], socketPath(dataDir, listener), credential));
      return doors.at(-1)!.port;
    };
    const [ingress, admin] = await Promise.all([open('ingress'), open('admin')]);
    await awaitOk(`http://127.0.0.1:${admin}/health`, signal, credential);
    await awaitOk(`http://127.0.0.1:${ingress}/restate/health`, signal, credential);
    return { ingress, admin };
  });
  return { process: restate, ports };
}

function socketPath(dataDir: string, listener: keyof Ports): string {
  return join(dataDir, 'data/local', `${listener}.sock`);
}

/** Finds the binary like `@restatedev/restate-server`, whose own script would be one more process. */
function binaryPath(): string {
  const server = createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json');
  const platform = `${process.platform}-${process.arch}`;
  return createRequire(server).resolve(`@restatedev/restate-server-${platform}/bin/restate-server`);
}

/** Only PATH is inherited, so that a developer's RESTATE_* variables do not change it. */
function environment(temporaryDir: string, ports: Ports): NodeJS.ProcessEnv {
  const bind = (port: number) => `127.0.0.1:${port}`;
  return {
    PATH: process.env.PATH,
    TMPDIR: temporaryDir,
    ...(ports.ingress && { RESTATE_INGRESS__BIND_ADDRESS: bind(ports.ingress) }),
    ...(ports.admin && { RESTATE_ADMIN__BIND_ADDRESS: bind(ports.admin) }),
    RESTATE_DISABLE_TELEMETRY: 'true',
    // It asks GitHub for its newest release at every start, and no setting turns that off. Its complaint about a
    // missing internet connection is hidden.
    RESTATE_LOG_FILTER: 'warn,restate=info,octocrab=off',
    RESTATE_LOG_FORMAT: 'json',
    RESTATE_DEFAULT_NUM_PARTITIONS: '2',
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '128 MiB',
    RESTATE_BIFROST__RECORD_CACHE_MEMORY_SIZE: '16 MiB',
    // A restarted agent is back soon.
    RESTATE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: '100ms',
    RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL: '2s',
    RESTATE_SHUTDOWN_TIMEOUT: '3s',
  };
}

interface LogLine {
  level: string;
  target?: string;
  fields: { message?: string; error?: string };
  span?: { server_name?: string; 'server.port'?: number };
}

async function listeningLine(restate: RunningProcess, server: string): Promise<LogLine> {
  const line = await restate.waitForLine((text) => {
    const log = parse(text);
    return log?.span?.server_name === server && log.fields.message?.endsWith('listening') === true;
  });
  return parse(line)!;
}

/** A warning or error in one line, and nothing for other lines. Output that is not JSON is a panic and stays. */
function readable(line: string): string | undefined {
  const log = parse(line);
  if (!log) return line;
  if (log.level !== 'WARN' && log.level !== 'ERROR') return undefined;
  const { message = '', error } = log.fields;
  return `${log.level} ${message}${error ? `: ${error}` : ''}`;
}

function parse(line: string): LogLine | undefined {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}
