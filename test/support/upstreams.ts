import { pino, type Logger } from 'pino';
import { SecretFiles } from '../../src/platform/config/secret-files.ts';
import { loadConfig } from '../../src/contract/load-config.ts';
import { NameResolver } from '../../src/platform/names/name-resolver.ts';
import { Upstreams } from '../../src/proxy/upstream/upstreams.ts';

/** What upstreams need besides their settings. */
interface UpstreamParts {
  names?: NameResolver;
  logger?: Logger;
}

/** The upstreams of a gateway with these settings. */
export function upstreamsWith(
  settings: Record<string, string> = {},
  { names = new NameResolver(2_000), logger = pino({ level: 'silent' }) }: UpstreamParts = {},
): Upstreams {
  const config = loadConfig({ GATEWAY_API_KEYS: 'k'.repeat(16), ...settings });
  return new Upstreams(config, names, new SecretFiles(logger), logger);
}
