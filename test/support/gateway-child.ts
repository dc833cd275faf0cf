import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import {
  READY_TIMEOUT_MS,
  startProcess,
  untilReady,
  type Exit,
  type RunningProcess,
} from '../../local/stack/process.ts';
import { API_KEY, READ_TOKEN_SECRET } from './credentials.ts';
import { upstreamsOrNobody } from './nobody.ts';

export const GATEWAY_MAIN = join(import.meta.dirname, '../../dist/main.js');

export interface GatewayChildOptions {
  /** Beside what every gateway of a test has. */
  env?: Record<string, string>;
  /** The whole environment, in place of `env`. */
  onlyEnv?: Record<string, string>;
  /** The Node on which it runs, where it is not the one of the test. */
  node?: string;
  /** Arguments of Node's own, before the program. */
  nodeArgs?: string[];
  /** The program, where it is not `dist/main.js`. */
  main?: string;
  /** A command to run it under, such as `unshare`. */
  wrapper?: string[];
}

export interface GatewayChild {
  url: string;
  port: number;
  /** Of probes and metrics. */
  managementUrl: string;
  /** Of the wrapper, where there is one. */
  pid: number;
  /** Its log so far, parsed; what is no JSON is left out. */
  log: LogLine[];
  /** All that it wrote to standard output and to standard error, line by line. */
  output: string[];
  process: RunningProcess;
  /** Sends a signal to the process alone, not to its group. */
  signal(signal: NodeJS.Signals): void;
  exited: Promise<Exit>;
  /** Drains it. Kills it where that takes three seconds. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Its memory, in bytes, as the kernel counts it. */
  residentBytes(): Promise<number>;
}

export type LogLine = Record<string, unknown> & { message: string };

/** Runs the built gateway in a process of its own, on free ports unless the environment sets them. */
export async function startGatewayChild(options: GatewayChildOptions = {}): Promise<GatewayChild> {
  const { gateway, log, output } = await launchGateway(options);
  const line = await untilReady(gateway, READY_TIMEOUT_MS, () =>
    gateway.waitForLine((text) => parseLine(text)?.message === 'the gateway listens'),
  );
  const { port, managementPort } = JSON.parse(line) as { port: number; managementPort: number };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    managementUrl: `http://127.0.0.1:${managementPort}`,
    pid: gateway.pid,
    log,
    output,
    process: gateway,
    signal: (signal) => process.kill(gateway.pid, signal),
    exited: gateway.exited,
    stop: () => gateway.stop(),
    kill: () => gateway.kill(),
    residentBytes: () => residentBytes(gateway.pid),
  };
}

/** The same, without waiting until it listens. */
export async function launchGateway(
  options: GatewayChildOptions,
): Promise<{ gateway: RunningProcess; log: LogLine[]; output: string[] }> {
  const log: LogLine[] = [];
  const output: string[] = [];
  const { node = process.execPath, nodeArgs = [], main = GATEWAY_MAIN, wrapper = [] } = options;
  const args = [...wrapper, node, ...nodeArgs, main];
  const gateway = startProcess({
    name: 'gateway',
    command: args.shift()!,
    args,
    env: options.onlyEnv ?? (await gatewayEnvironment(options.env)),
    onLine: (line) => {
      output.push(line);
      const parsed = parseLine(line);
      if (parsed) log.push(parsed);
    },
  });
  return { gateway, log, output };
}

export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

async function gatewayEnvironment(env?: Record<string, string>): Promise<NodeJS.ProcessEnv> {
  // 0 would turn the management port off.
  const { management } = await choosePorts({ management: 0 });
  return {
    PATH: process.env.PATH,
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: '0',
    GATEWAY_MANAGEMENT_PORT: String(management),
    GATEWAY_API_KEYS: API_KEY,
    GATEWAY_READ_TOKEN_SECRETS: READ_TOKEN_SECRET,
    // Most doubles of the runtime have the paths and the errors of one before 1.7.4.
    GATEWAY_RUNTIME_API: 'classic',
    GATEWAY_DRAIN_TIMEOUT_MS: '500',
    ...upstreamsOrNobody(env),
  };
}

function parseLine(line: string): LogLine | undefined {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}
