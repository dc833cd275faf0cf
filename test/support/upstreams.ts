import { pino } from 'pino';
import { loadConfig } from '../../src/platform/config/load-config.ts';
import { NameResolver } from '../../src/platform/names/name-resolver.ts';
import { UpstreamCredentials } from '../../src/proxy/upstream/upstream-credentials.ts';
import { Upstreams } from '../../src/proxy/upstream/upstreams.ts';

/** The upstreams of a gateway with these settings. */
export function upstreamsWith(
  settings: Record<string, string> = {},
  names = new NameResolver(2_000),
): Upstreams {
  const config = loadConfig({ GATEWAY_API_KEYS: 'k'.repeat(16), ...settings });
  const credentials = new UpstreamCredentials(config, pino({ level: 'silent' }));
  return new Upstreams(config, names, credentials);
}
