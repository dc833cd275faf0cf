import { parseArgs } from 'node:util';
import { AgentGateway, APIError } from '../../packages/client/src/index.ts';
import { askKey } from './ask-key.ts';
import { startConsole } from './console-server.ts';

export const HELP = `npm run console -- --gateway URL [OPTIONS]

Serves the console of any gateway to this machine, with an API key of yours. It asks for the key without showing it, keeps it
in memory only, and listens on 127.0.0.1. Or give the key on the standard input.

  --gateway URL   The address of the gateway, such as https://gateway.example
  --tenant NAME   Its tenant. Default: default
  --port NUMBER   Where the console listens. Default: a free port
  --help          Show this.

The key needs the scopes commands, streams:read, shapes:read, registry:read and registry:write. Without one of them the
console says what it cannot show. Everybody who can connect to 127.0.0.1 on this machine can use the console while it runs.
`;

/** Starts the console with a key of one's own. Rejects with an Error that says what is wrong. */
export async function runWithOwnKey(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      gateway: { type: 'string' },
      tenant: { type: 'string', default: 'default' },
      port: { type: 'string', default: '0' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || values.gateway === undefined) {
    process.stdout.write(HELP);
    if (!values.help) process.exitCode = 2;
    return;
  }
  const gatewayUrl = checkedUrl(values.gateway);
  const say = (text: string): void => void process.stderr.write(text);
  const apiKey = (await askKey(`API key for ${gatewayUrl}: `, process.stdin, say)).trim();
  await tryKey(gatewayUrl, apiKey);
  const { tenant } = values;
  const running = await startConsole({ port: Number(values.port), gatewayUrl, apiKey, tenant });
  console.log(`The console of ${gatewayUrl}: ${running.url}\nCtrl-C ends it and forgets the key.`);
}

/** The key goes over this connection, so another machine is asked by https only. */
function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url && /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname);
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))) {
    throw new Error(
      '--gateway takes an https URL, or an http URL of this machine: the key goes there.',
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** A wrong key or address is said at once, and not by a page that stays empty. */
async function tryKey(url: string, apiKey: string): Promise<void> {
  if (apiKey === '') throw new Error('No key was given.');
  try {
    await new AgentGateway({ url, apiKey }).deployments.list({ retryForMs: 0, timeoutMs: 10_000 });
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (error.status === 401)
      throw new Error(`The gateway does not know this key: ${error.detail}`);
    if (error.status === undefined) throw error;
    // A key without this scope, or a runtime that is away: the page says it.
  }
}
