import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { choosePorts } from '../../local/stack/ports.ts';
import { API_KEY, STREAMS_PREFIX, type Contender, type RunningContender } from './contender.ts';
import { startServerProcess } from './server-process.ts';

export const GATEWAY_MAIN = join(import.meta.dirname, '../../dist/main.js');
const NOBODY = 'http://127.0.0.1:2';

export interface GatewayOptions {
  id?: string;
  label?: string;
  /** The address on which it listens. */
  host?: string;
  /** Beside what every gateway of the bench has. */
  env?: Record<string, string>;
  /** Arguments of Node's own. */
  nodeArgs?: string[];
}

export interface RunningGateway extends RunningContender {
  pid: number;
}

/** The built gateway, configured by environment variables alone, as in production. */
export function gateway(options: GatewayOptions = {}): Contender {
  return {
    id: options.id ?? 'gateway',
    label: options.label ?? 'agent gateway',
    missing: () =>
      existsSync(GATEWAY_MAIN) ? undefined : 'the gateway is not built: npm run build',
    start: (streamsUrl) =>
      startGateway({ ...options, env: { ...options.env, GATEWAY_HISTORY_URL: streamsUrl } }),
  };
}

/**
 * The gateway with a young generation that holds what an event to five thousand readers allocates. V8 then collects a read while it is
 * young: an event takes less processor time, and the process more memory.
 */
export const largeYoungGateway = gateway({
  id: 'gateway-large-young',
  label: 'agent gateway, semi-space of 96 MiB',
  nodeArgs: ['--min-semi-space-size=96', '--max-semi-space-size=96'],
});

export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const ports = await choosePorts({ port: 0, managementPort: 0 });
  const { host = '127.0.0.1' } = options;
  const origin = `http://${host}:${ports.port}`;
  const server = await startServerProcess({
    name: options.id ?? 'gateway',
    command: process.execPath,
    args: [...(options.nodeArgs ?? []), GATEWAY_MAIN],
    env: gatewayEnvironment(ports, { GATEWAY_HOST: host, ...options.env }),
    readyUrl: `${origin}/health`,
  });
  // It drains first, and a profile is written behind that.
  return {
    url: `${origin}${STREAMS_PREFIX}`,
    pid: server.pid,
    ...(options.env?.['GATEWAY_SHARED_READS'] !== 'false' && { sharingProcesses: 1 }),
    stop: () => server.stop(10_000),
  };
}

export function gatewayEnvironment(
  { port, managementPort }: { port: number; managementPort: number },
  env: Record<string, string> = {},
): Record<string, string> {
  return {
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: String(port),
    // On, as users have it: with it come the metrics, and what they cost.
    GATEWAY_MANAGEMENT_PORT: String(managementPort),
    GATEWAY_API_KEYS: API_KEY,
    // One key stands for all readers here, and may have half of the open reads.
    GATEWAY_MAX_OPEN_READS: '20000',
    // The other proxies send the classic paths.
    GATEWAY_RUNTIME_API: 'classic',
    GATEWAY_RUNTIME_INGRESS_URL: NOBODY,
    GATEWAY_RUNTIME_ADMIN_URL: NOBODY,
    GATEWAY_HISTORY_URL: NOBODY,
    GATEWAY_SYNC_URL: NOBODY,
    GATEWAY_DRAIN_TIMEOUT_MS: '500',
    ...env,
  };
}
