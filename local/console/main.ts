/**
 * The console as a process: CONSOLE_PORT (default 8789), GATEWAY_URL (as a browser reaches it, too),
 * GATEWAY_API_KEY, GATEWAY_READ_TOKEN_SECRETS (the first one signs), GATEWAY_TENANT (default
 * `default`), CONSOLE_TOKEN_TTL_SECONDS (default 60). With arguments: a console with a key of one's own, see `--help`.
 */
import { startConsole } from './console-server.ts';
import { runWithOwnKey } from './own-key.ts';

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));

const args = process.argv.slice(2);
// `npm run console` without arguments gives help, and the local system starts this file with its settings.
if (args.length > 0 || process.env.GATEWAY_READ_TOKEN_SECRETS === undefined) {
  await runWithOwnKey(args).catch((error: unknown) => {
    console.error(`console: ${(error as Error).message}`);
    process.exit(1);
  });
} else await runPart();

/** The part of the local system. */
async function runPart(): Promise<void> {
  const {
    CONSOLE_PORT,
    GATEWAY_URL,
    GATEWAY_API_KEY,
    GATEWAY_READ_TOKEN_SECRETS = '',
    GATEWAY_TENANT,
    CONSOLE_TOKEN_TTL_SECONDS,
  } = process.env;
  const [readTokenSecret] = GATEWAY_READ_TOKEN_SECRETS.split(',')
    .map((secret) => secret.trim())
    .filter(Boolean);

  if (!GATEWAY_URL || !GATEWAY_API_KEY || !readTokenSecret) {
    console.error(
      'console: GATEWAY_URL, GATEWAY_API_KEY and GATEWAY_READ_TOKEN_SECRETS are required',
    );
    process.exit(1);
  }

  const running = await startConsole({
    port: Number(CONSOLE_PORT || 8789),
    gatewayUrl: GATEWAY_URL.replace(/\/$/, ''),
    apiKey: GATEWAY_API_KEY,
    readTokenSecret,
    tenant: GATEWAY_TENANT || 'default',
    tokenTtlSeconds: Number(CONSOLE_TOKEN_TTL_SECONDS || 60),
  });
  console.log(`console listening on ${running.url}`);
}
