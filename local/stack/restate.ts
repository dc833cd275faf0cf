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

/** A node of a cluster. It listens on Unix sockets, without doors, and talks with the others at its port. */
export interface RestateNode {
  /** Its data belong to it. */
  name: string;
  port: number;
  /** The ports of all nodes, in order. The first one begins the cluster. */
  ports: readonly number[];
  /** On how many nodes each record of a new cluster is. Default 2. */
  replication?: number;
}

export interface RestateOptions {
  dataDir: string;
  /** 0 or undefined means a free port. */
  ingressPort?: number;
  adminPort?: number;
  /** It listens on Unix sockets, with doors at its ports for callers with this credential. Without it on TCP, for all. */
  credential?: string;
  /** The file of the private key with which it signs its requests to agents (PKCS #8 in PEM). */
  identityKeyFile?: string;
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
const POLL_INTERVAL_MS = 100;
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

/** Starts a node of a cluster. Resolves when it takes part in it, which needs another node. */
export async function startRestateNode(
  options: Pick<RestateOptions, 'dataDir' | 'identityKeyFile' | 'onOutput'>,
  node: RestateNode,
): Promise<RunningProcess> {
  const dataDir = resolve(options.dataDir);
  checkSocketPath(dataDir, node.name);
  const temporaryDir = join(dataDir, 'tmp');
  await mkdir(temporaryDir, { recursive: true });
  const restate = startProcess({
    name: node.name,
    command: binaryPath(),
    args: [
      '--no-logo',
      `--base-dir=${join(dataDir, 'data')}`,
      `--node-name=${node.name}`,
      '--listen-mode=tcp',
      `--bind-address=127.0.0.1:${node.port}`,
    ],
    env: {
      ...environment(temporaryDir, { ingress: 0, admin: 0 }, options.identityKeyFile),
      ...clusterEnvironment(node),
    },
    readable,
    onLine: options.onOutput,
  });
  return untilReady(restate, READY_TIMEOUT_MS, async (signal) => {
    await untilAlive(`http://127.0.0.1:${node.port}/health`, signal);
    return restate;
  });
}

/** Of three nodes with each record on two, any one may be away. */
function clusterEnvironment({ port, ports, replication = 2 }: RestateNode): NodeJS.ProcessEnv {
  return {
    RESTATE_INGRESS__LISTEN_MODE: 'unix',
    RESTATE_ADMIN__LISTEN_MODE: 'unix',
    RESTATE_CLUSTER_NAME: 'local',
    RESTATE_AUTO_PROVISION: String(port === ports[0]),
    RESTATE_DEFAULT_REPLICATION: String(replication),
    RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(
      ports.map((each) => `http://127.0.0.1:${each}`),
    ),
    RESTATE_DEFAULT_NUM_PARTITIONS: '4',
  };
}

async function untilAlive(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const health = await fetch(url, { signal })
      .then((response) => response.json() as Promise<{ status?: string }>)
      .catch(() => undefined);
    if (health?.status === 'Alive') return;
    await new Promise((resolveLater) => setTimeout(resolveLater, POLL_INTERVAL_MS));
  }
}

function checkSocketPath(dataDir: string, nodeName: string): void {
  const tooLong =
    Buffer.byteLength(restateSocket(dataDir, 'ingress', nodeName)) - MAX_SOCKET_PATH_BYTES;
  if (tooLong > 0) {
    throw new Error(
      `The path of the data folder is ${tooLong} bytes too long for Restate's Unix sockets. Name a shorter one with --data DIR.`,
    );
  }
}

async function launch(
  options: RestateOptions,
  wanted: Ports,
): Promise<{ process: RunningProcess; ports: Ports }> {
  const dataDir = resolve(options.dataDir);
  if (options.credential !== undefined) checkSocketPath(dataDir, 'local');
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
    env: environment(temporaryDir, wanted, options.identityKeyFile),
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
      const ways = [{ path: restateSocket(dataDir, listener) }];
      doors.push(await openDoor(wanted[listener], () => ways, credential));
      return doors.at(-1)!.port;
    };
    const [ingress, admin] = await Promise.all([open('ingress'), open('admin')]);
    await awaitOk(`http://127.0.0.1:${admin}/health`, signal, credential);
    await awaitOk(`http://127.0.0.1:${ingress}/restate/health`, signal, credential);
    return { ingress, admin };
  });
  return { process: restate, ports };
}

/** The Unix socket of a node, by default of the only one. */
export function restateSocket(
  dataDir: string,
  listener: 'ingress' | 'admin',
  nodeName = 'local',
): string {
  return join(dataDir, 'data', nodeName, `${listener}.sock`);
}

/** Finds the binary like `@restatedev/restate-server`, whose own script would be one more process. */
function binaryPath(): string {
  const server = createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json');
  const platform = `${process.platform}-${process.arch}`;
  return createRequire(server).resolve(`@restatedev/restate-server-${platform}/bin/restate-server`);
}

/** Only PATH is inherited, so that a developer's RESTATE_* variables do not change it. */
function environment(
  temporaryDir: string,
  ports: Ports,
  identityKeyFile: string | undefined,
): NodeJS.ProcessEnv {
  const bind = (port: number) => `127.0.0.1:${port}`;
  return {
    PATH: process.env.PATH,
    TMPDIR: temporaryDir,
    ...(ports.ingress && { RESTATE_INGRESS__BIND_ADDRESS: bind(ports.ingress) }),
    ...(ports.admin && { RESTATE_ADMIN__BIND_ADDRESS: bind(ports.admin) }),
    ...(identityKeyFile && {
      RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: identityKeyFile,
    }),
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
