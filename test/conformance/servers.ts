import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { startHistory } from '../../local/stack/history.ts';
import { choosePorts } from '../../local/stack/ports.ts';
import { READY_TIMEOUT_MS, startProcess, untilReady } from '../../local/stack/process.ts';
import { NODE_DIFFERENCES, RUST_DIFFERENCES, type ExpectedDifference } from './differences.ts';

export interface RunningServer {
  /** Without a mount path: the suite names its own, `/v1/stream`, also in Stream-Forked-From. */
  origin: string;
  stop(): Promise<void>;
}

export interface Server {
  /** What is not installed, and how to install it. */
  missing?(): string | undefined;
  /** Starts it on a free port. The data folder need not exist. */
  start(dataDir: string): Promise<RunningServer>;
  differences: readonly ExpectedDifference[];
}

const RUST_VERSION = '0.1.5';
/** Not on the PATH: another crate's server has the same name. */
const RUST_ROOT = join(homedir(), '.cache/agent-gateway', `durable-streams-${RUST_VERSION}`);
const RUST_PROGRAM = join(RUST_ROOT, 'bin/durable-streams-server');

/** The Durable Streams servers by the names that `--server` takes. */
export const SERVERS = {
  node: { start: startNode, differences: NODE_DIFFERENCES },
  rust: { missing: missingRust, start: startRust, differences: RUST_DIFFERENCES },
} satisfies Record<string, Server>;

async function startNode(): Promise<RunningServer> {
  const history = await startHistory();
  return { origin: new URL(history.url).origin, stop: () => history.stop() };
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
  return { origin: `http://127.0.0.1:${port}`, stop: () => server.stop() };
}
