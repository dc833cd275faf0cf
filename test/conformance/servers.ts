import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { RIVET_PATH, startRivetEngine, startRivetServices } from '../../local/cluster/rivet.ts';
import { startHistory } from '../../local/stack/history.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { READY_TIMEOUT_MS, startProcess, untilReady } from '../../local/stack/process.ts';
import {
  CADDY_DIFFERENCES,
  NODE_DIFFERENCES,
  RIVET_DIFFERENCES,
  RUST_DIFFERENCES,
  type ExpectedDifference,
} from './differences.ts';

export interface RunningServer {
  /** The URL before `/v1/stream`, which the suite adds itself, also in Stream-Forked-From. */
  url: string;
  stop(): Promise<void>;
}

export interface Server {
  /** What is not installed, and how to install it. */
  missing?(): string | undefined;
  /** Starts it on a free port. The data folder need not exist. */
  start(dataDir: string): Promise<RunningServer>;
  differences: readonly ExpectedDifference[];
}

const CACHE = join(homedir(), '.cache/agent-gateway');
const CADDY_VERSION = '0.3.0';
const CADDY_ROOT = join(CACHE, `durable-streams-caddy-${CADDY_VERSION}`);
const CADDY_PROGRAM = join(CADDY_ROOT, 'durable-streams-server');
const RUST_VERSION = '0.1.5';
/** Not on the PATH: another crate's server has the same name. */
const RUST_ROOT = join(CACHE, `durable-streams-${RUST_VERSION}`);
const RUST_PROGRAM = join(RUST_ROOT, 'bin/durable-streams-server');

/** The Durable Streams servers by the names that `--server` takes. */
export const SERVERS = {
  node: { start: startNode, differences: NODE_DIFFERENCES },
  caddy: { missing: missingCaddy, start: startCaddy, differences: CADDY_DIFFERENCES },
  rivet: { start: startRivet, differences: RIVET_DIFFERENCES },
  rust: { missing: missingRust, start: startRust, differences: RUST_DIFFERENCES },
} satisfies Record<string, Server>;

async function startNode(): Promise<RunningServer> {
  const history = await startHistory();
  return { url: new URL(history.url).origin, stop: () => history.stop() };
}

function missingCaddy(): string | undefined {
  if (existsSync(CADDY_PROGRAM)) return undefined;
  return `The Caddy server is not installed, so nothing was tested: there is no ${CADDY_PROGRAM}.
It is in the archive for your machine at https://github.com/durable-streams/durable-streams/releases/tag/caddy-v${CADDY_VERSION}, or can be built
with Go 1.25 or newer in packages/caddy-plugin of that tag: go build -o ${CADDY_PROGRAM} ./cmd/caddy`;
}

async function startCaddy(dataDir: string): Promise<RunningServer> {
  const { port } = await choosePorts({ port: 0 });
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, 'Caddyfile');
  await writeFile(
    file,
    `{
	admin off
	persist_config off
}
http://127.0.0.1:${port} {
	route /v1/stream/* {
		durable_streams {
			data_dir ${join(dataDir, 'streams')}
		}
	}
}
`,
  );
  const server = startProcess({
    name: 'the Caddy server',
    command: CADDY_PROGRAM,
    args: ['run', '--config', file],
    env: { PATH: process.env.PATH, HOME: dataDir },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, READY_TIMEOUT_MS, () =>
    server.waitForLine((line) => line.includes('serving initial configuration')),
  );
  return { url, stop: () => server.stop() };
}

/** An engine with one process of services. npm brings them. */
async function startRivet(dataDir: string): Promise<RunningServer> {
  const options = { folder: dataDir, token: 'a-token-of-this-run', onOutput: console.log };
  const ports = await choosePorts({ engine: 0, peer: 0, metrics: 0, services: 0 });
  const engine = await startRivetEngine(options, ports);
  const services = await startRivetServices(options, 'the services of Rivet', ports);
  return {
    url: `http://127.0.0.1:${ports.services}${RIVET_PATH.replace(/\/v1\/stream$/, '')}`,
    stop: async () => {
      await services.stop();
      await engine.stop();
    },
  };
}

function missingRust(): string | undefined {
  if (existsSync(RUST_PROGRAM)) return undefined;
  return `The Rust server is not installed, so nothing was tested: there is no ${RUST_PROGRAM}.
With cargo of Rust 1.75 or newer it takes some minutes: cargo install durable-streams --version ${RUST_VERSION} --locked --root ${RUST_ROOT}`;
}

async function startRust(dataDir: string): Promise<RunningServer> {
  const { port } = await choosePorts({ port: 0 });
  const server = startProcess({
    name: 'the Rust server',
    command: RUST_PROGRAM,
    args: ['--port', String(port), '--data-dir', dataDir],
    env: { PATH: process.env.PATH },
  });
  await untilReady(server, READY_TIMEOUT_MS, () =>
    server.waitForLine((line) => line.includes(' listening on ')),
  );
  return { url: `http://127.0.0.1:${port}`, stop: () => server.stop() };
}
