import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import {
  READY_TIMEOUT_MS,
  startProcess,
  untilReady,
  type RunningProcess,
} from '../../local/stack/process.ts';
import { API_KEY } from '../support/credentials.ts';
import { parseExposition, sampleValue } from '../support/exposition.ts';
import { until } from '../support/until.ts';
import { Pipeline } from './pipeline.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
/** Makes a log line of about 700 bytes. */
const REQUEST = `GET /nothing/${'a'.repeat(490)} HTTP/1.1\r\nHost: gateway.test\r\n\r\n`;
const REQUESTS_AT_ONCE = 8;

/** A built gateway whose standard output goes to a path. */
export interface WritingGateway {
  port: number;
  process: RunningProcess;
  signal(signal: NodeJS.Signals): void;
  metric(name: string): Promise<number | undefined>;
  /** Resolves when a metric is as it is to be. */
  until(name: string, isWanted: (value: number) => boolean): Promise<void>;
  /** Sends so many requests, each with a line in the log, and reads their answers. */
  request(count: number): Promise<void>;
}

export async function startWritingTo(
  path: string,
  env: Record<string, string> = {},
): Promise<WritingGateway> {
  const { port, management } = await choosePorts({ port: 0, management: 0 });
  const gateway = startProcess({
    name: 'the gateway',
    command: '/bin/sh',
    args: ['-c', 'exec "$0" "$1" >> "$2"', process.execPath, MAIN, path],
    env: {
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      GATEWAY_MANAGEMENT_PORT: String(management),
      GATEWAY_API_KEYS: API_KEY,
      ...env,
    },
  });
  // What it logs nobody reads, so only its answers tell.
  await untilReady(gateway, READY_TIMEOUT_MS, async (signal) => {
    const isLive = (): Promise<boolean> => answers(`http://127.0.0.1:${management}/health/live`);
    await until('the gateway answers', async () => signal.aborted || (await isLive()));
  });
  const metric = async (name: string): Promise<number | undefined> => {
    const response = await fetch(`http://127.0.0.1:${management}/metrics`);
    return sampleValue(parseExposition(await response.text()), name);
  };
  return {
    port,
    process: gateway,
    signal: (signal) => process.kill(gateway.pid, signal),
    metric,
    until: (name, isWanted) => {
      let value: number | undefined;
      return until(
        () => `${name} is no longer ${value}`,
        async () => {
          value = await metric(name);
          return value !== undefined && isWanted(value);
        },
      );
    },
    request: async (count) => {
      const pipeline = await Pipeline.open(port, REQUEST);
      await pipeline.send(count, REQUESTS_AT_ONCE);
      pipeline.close();
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
