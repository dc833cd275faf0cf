import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readJsonBody, Refusal, sendJson, sendRefusal } from './answers.ts';
import { allowedMethods, forward, type GatewayAccess } from './forward.ts';
import { findPageFile, sendPageFile } from './page-files.ts';
import { hasPageName, pageUrlOf } from './page-names.ts';
import { mintReadToken, readTokenClaims } from './read-token.ts';
import { answerPageName } from './reads-by-name.ts';
import { isOwnHost, refuseForeignRead, refuseForeignRequest } from './same-origin.ts';
import { setSecurityHeaders } from './security-headers.ts';

export interface ConsoleOptions extends GatewayAccess {
  /** 0 means a free port. */
  port: number;
  /**
   * The HS256 secret of at least 32 bytes: the first of GATEWAY_READ_TOKEN_SECRETS. Without it the page reads through
   * the console, with the API key.
   */
  readTokenSecret?: string | undefined;
  tenant: string;
  /** The lifetime of tokens in seconds. Default 60, because an open page renews them. */
  tokenTtlSeconds?: number;
}

export interface RunningConsole {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Serves the console, in the role of an application's back end. It holds the API key, sends the commands and mints
 * read tokens. It has no users and serves only this machine. In an application, a session would say here who asks
 * and what they may see and do.
 */
export async function startConsole(options: ConsoleOptions): Promise<RunningConsole> {
  const server = createServer((request, response) => {
    route(options, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendRefusal(response, error);
    });
  });
  // It listens only on this machine, because anyone who reaches the console can command every agent.
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function route(
  options: ConsoleOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { localPort } = request.socket;
  const ownUrl = `http://127.0.0.1:${localPort}`;
  const mints = options.readTokenSecret !== undefined;
  const readUrl = mints ? options.gatewayUrl : ownUrl;
  setSecurityHeaders(readUrl, mints, response);
  const [path = '/'] = (request.url ?? '/').split('?');
  if (!mints && hasPageName(request)) return answerPageName(options, path, request, response);
  if (!isOwnHost(request)) {
    throw new Refusal(421, 'wrong_host', 'Open the console at the address that it printed.');
  }
  const { method = 'GET' } = request;
  const methods = methodsOf(options, path);
  const file = methods ? undefined : findPageFile(path);
  if (!methods && !file) {
    throw new Refusal(404, 'not_found', 'There is nothing at this path.');
  }
  const allowed = methods ?? ['GET', 'HEAD'];
  if (!allowed.includes(method)) {
    response.setHeader('allow', allowed.join(', '));
    throw new Refusal(405, 'method_not_allowed', `Use ${allowed.join(', ')}.`);
  }
  if (file) return sendPageFile(file, response);
  if (path === '/settings.json') return sendSettings(options, readUrl, response);
  if (method === 'GET') refuseForeignRead(request);
  else refuseForeignRequest(request);
  if (path === '/token') return giveReadToken(options, request, response);
  return forward(options, request, response);
}

/** The methods of a path that is no file. */
function methodsOf({ readTokenSecret }: ConsoleOptions, path: string): string[] | undefined {
  const mints = readTokenSecret !== undefined;
  if (path === '/settings.json') return ['GET', 'HEAD'];
  if (path === '/token' && mints) return ['POST'];
  return allowedMethods(path, !mints);
}

function sendSettings(
  { gatewayUrl, tenant, readTokenSecret }: ConsoleOptions,
  readUrl: string,
  response: ServerResponse,
): void {
  const readsWithTokens = readTokenSecret !== undefined;
  // Each page gets another name.
  sendJson(response, 200, { gatewayUrl, tenant, readsWithTokens, pageUrl: pageUrlOf(readUrl) });
}

/** Request: `{"prefix": …}`. Response: `{"token", "ttlSeconds"}`. */
async function giveReadToken(
  { tenant, readTokenSecret = '', tokenTtlSeconds = 60 }: ConsoleOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prefix } = await readJsonBody(request);
  const claims = readTokenClaims(tenant, prefix);
  if (!claims) throw new Refusal(403, 'prefix_not_allowed', 'The page may not read there.');
  const token = await mintReadToken(readTokenSecret, claims, tokenTtlSeconds);
  sendJson(response, 200, { token, ttlSeconds: tokenTtlSeconds });
}
