import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_KEY, AUTHORIZED } from './credentials.ts';
import { everyUpstream } from './nobody.ts';
import { startScriptedUpstream } from './scripted-upstream.ts';

/** What gives a gateway each series that rules and panels ask for. */
export interface MonitoredTraffic {
  /** For the gateway: one upstream for everything, the collector included, and its keys in a file. */
  env: Record<string, string>;
  /** Sends a request of each kind. */
  use(gatewayUrl: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startMonitoredTraffic(): Promise<MonitoredTraffic> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-monitoring-'));
  const keys = join(folder, 'keys');
  // The name that the pages ask for.
  await writeFile(keys, `${API_KEY} name=agents-2025`);
  const { url, stop } = await startScriptedUpstream((_request, response) => {
    response.writeHead(202, { 'content-type': 'application/json' });
    response.end('{"invocationId":"inv_1","status":"Accepted","keys":[]}');
  });
  return {
    env: {
      ...everyUpstream(url),
      GATEWAY_READ_TOKEN_JWKS: `${url}/keys`,
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      // Without a file there is no series of the files of secrets.
      GATEWAY_AUDIT_FILE: join(folder, 'audit.log'),
      GATEWAY_API_KEYS: '',
      GATEWAY_API_KEYS_FILE: keys,
    },
    use: async (gatewayUrl) => {
      const ask = async (path: string, method = 'GET'): Promise<void> => {
        await (await fetch(gatewayUrl + path, { method, headers: AUTHORIZED })).text();
      };
      await ask('/streams/x');
      await ask('/streams/x?live=long-poll');
      await ask('/nothing');
      await ask('/api/a/chat/a1/send', 'POST');
    },
    stop: async () => {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}
