/**
 * The history store of Rivet: an engine, which keeps the streams, and services, which speak the protocol. Their packages are
 * no dependencies of this project, because they are large and few need them.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { awaitOk } from '../stack/await-ok.ts';
import {
  READY_TIMEOUT_MS,
  startProcess,
  untilReady,
  type RunningProcess,
} from '../stack/process.ts';

const PACKAGES = { '@rivet-dev/services': '0.1.11', '@rivetkit/engine-cli': '2.3.19' };
const PROGRAMS = join(
  homedir(),
  '.cache/agent-gateway',
  `rivet-${Object.values(PACKAGES).join('-')}`,
);
/** Where the services have their streams. */
export const RIVET_PATH = '/durable-streams/v1/stream';
const POOL = 'services';

/**
 * As `rivet-services dev` starts an engine. Without them what a killed process of the services had stays its own for longer, and
 * requests go by an older gateway of the engine. Times are in ms.
 */
const ENGINE_SETTINGS = {
  RIVET__FEATURES__GUARD_GATEWAY_V3__MODE: 'on',
  RIVET__FEATURES__GUARD_GATEWAY_V3__PERCENTAGE: '100',
  RIVET__PEGBOARD__BASE_RETRY_TIMEOUT: '100',
  RIVET__PEGBOARD__ENVOY_ELIGIBLE_THRESHOLD: '5000',
  RIVET__PEGBOARD__ENVOY_LOST_THRESHOLD: '7000',
  RIVET__PEGBOARD__MIN_METADATA_POLL_INTERVAL: '1000',
  RIVET__PEGBOARD__RESCHEDULE_BACKOFF_MAX_EXPONENT: '1',
  RIVET__PEGBOARD__RETRY_RESET_DURATION: '100',
};

export interface RivetOptions {
  /** Where its data and its configuration are. */
  folder: string;
  /** What the services have to show to the engine. */
  token: string;
  onOutput: (line: string) => void;
}

interface Programs {
  engine: string;
  services: string;
}

/** Where the programs are. npm brings them the first time, for all systems of this machine. */
export async function fetchRivet(say: (line: string) => void): Promise<Programs> {
  if (!existsSync(PROGRAMS)) {
    const wanted = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`);
    say(`npm fetches ${wanted.join(' and ')}, 120 MB; @rivet-dev/services names no licence`);
    await mkdir(dirname(PROGRAMS), { recursive: true });
    // Renamed when it is whole, because npm may be interrupted.
    const folder = await mkdtemp(`${PROGRAMS}.`);
    await writeFile(join(folder, 'package.json'), '{"private":true}\n');
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', ...wanted], {
      cwd: folder,
    });
    await rename(folder, PROGRAMS).catch(async (error: unknown) => {
      await rm(folder, { recursive: true });
      // Another system was faster.
      if (!existsSync(PROGRAMS)) throw error;
    });
  }
  const require = createRequire(join(PROGRAMS, 'package.json'));
  const engine = require('@rivetkit/engine-cli') as { getEnginePath: () => string };
  const services = require('@rivet-dev/services') as { getServicesPath: () => string };
  return { engine: engine.getEnginePath(), services: services.getServicesPath() };
}

/** Starts the engine with its data in a file system. */
export async function startRivetEngine(
  { folder, token, onOutput }: RivetOptions,
  ports: { engine: number; peer: number; metrics: number },
): Promise<RunningProcess> {
  const programs = await fetchRivet(onOutput);
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'engine.json');
  const listener = (port: number) => ({ port, host: '127.0.0.1' });
  const config = {
    auth: { admin_token: token },
    guard: listener(ports.engine),
    api_peer: listener(ports.peer),
    metrics: listener(ports.metrics),
    file_system: { path: join(folder, 'data') },
    telemetry: { enabled: false },
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const engine = startProcess({
    name: 'history',
    command: programs.engine,
    args: ['start', '--config', file],
    env: { PATH: process.env.PATH, HOME: folder, ...ENGINE_SETTINGS },
    readable: warning,
    onLine: onOutput,
  });
  return untilReady(engine, READY_TIMEOUT_MS, async (signal) => {
    const url = `http://127.0.0.1:${ports.engine}`;
    await awaitOk(`${url}/health`, signal);
    await openPool(url, token, signal);
    return engine;
  });
}

/** The services connect to a pool, which has to be there. */
async function openPool(url: string, token: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const response = await fetch(`${url}/runner-configs/${POOL}?namespace=default`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"datacenters":{"default":{"normal":{}}}}',
      signal,
    }).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Starts one process of the services. */
export async function startRivetServices(
  { folder, token, onOutput }: RivetOptions,
  name: string,
  ports: { engine: number; services: number },
): Promise<RunningProcess> {
  const programs = await fetchRivet(onOutput);
  const services = startProcess({
    name,
    command: programs.services,
    args: ['start'],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      RIVET_ENDPOINT: `http://127.0.0.1:${ports.engine}`,
      RIVET_TOKEN: token,
      HOST: '127.0.0.1',
      PORT: String(ports.services),
    },
    readable: warning,
    onLine: onOutput,
  });
  return untilReady(services, READY_TIMEOUT_MS, async (signal) => {
    const url = `http://127.0.0.1:${ports.services}${RIVET_PATH}/ready`;
    for (;;) {
      signal.throwIfAborted();
      const response = await fetch(url, { method: 'HEAD', signal }).catch(() => undefined);
      // It has no such stream, and the engine behind it has said so.
      if (response?.status === 404) return services;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
}

const COLOURS = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;]*m`, 'g');

/** A warning or an error, without colours. */
function warning(line: string): string | undefined {
  const plain = line.replaceAll(COLOURS, '');
  return /\b(?:ERROR|level=error|Error:|panicked)/.test(plain) ? plain : undefined;
}
