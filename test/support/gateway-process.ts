import { join } from 'node:path';
import { READY_TIMEOUT_MS, startProcess, untilReady } from '../../local/stack/process.ts';
import { upstreamsOrNobody } from './nobody.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');

/** The counterpart of `gateway.ts` for suites that do not run in Jest. */
export const API_KEY = 'test-api-key-0123456789';
export const READ_TOKEN_SECRET = 'test-read-token-secret-0123456789abcdef';

export interface GatewayProcess {
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** Starts the built gateway on a free port. Upstreams that a test does not name refuse connections. */
export async function startGatewayProcess(env: Record<string, string>): Promise<GatewayProcess> {
  const gateway = startProcess({
    name: 'the gateway',
    command: process.execPath,
    args: [MAIN],
    env: {
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_PORT: '0',
      GATEWAY_MANAGEMENT_PORT: '0',
      GATEWAY_API_KEYS: API_KEY,
      GATEWAY_READ_TOKEN_SECRETS: READ_TOKEN_SECRET,
      GATEWAY_DRAIN_TIMEOUT_MS: '500',
      ...upstreamsOrNobody(env),
    },
  });
  const line = await untilReady(gateway, READY_TIMEOUT_MS, () =>
    gateway.waitForLine((text) => text.includes('"the gateway listens"')),
  );
  const { port } = JSON.parse(line) as { port: number };
  return { url: `http://127.0.0.1:${port}`, port, stop: () => gateway.stop() };
}
