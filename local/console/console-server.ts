import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readJsonBody, Refusal, sendJson, sendRefusal } from './answers.ts';
import { forwardCommand, isCommandPath } from './commands.ts';
import {
  cancelInvocation,
  cancelledInvocation,
  registerDeployment,
  sendOverview,
} from './deployments.ts';
import { findPageFile, sendPageFile } from './page-files.ts';
import { mintReadToken, readTokenClaims } from './read-token.ts';
import { isOwnHost, refuseForeignRequest } from './same-origin.ts';

export interface ConsoleOptions {
  /** 0 means a free port. */
  port: number;
  /** Without a slash at its end, for example `http://127.0.0.1:8787`. */
  gatewayUrl: string;
  apiKey: string;
  /** The HS256 secret of at least 32 bytes: the first of GATEWAY_READ_TOKEN_SECRETS. */
  readTokenSecret: string;
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
  setSecurityHeaders(options, response);
  const [path = '/'] = (request.url ?? '/').split('?');
  if (!isOwnHost(request)) {
    throw new Refusal(421, 'wrong_host', 'Open the console at the address that it printed.');
  }
  const act = findAction(options, path);
  if (act) {
    if (request.method !== 'POST') throw notAllowed(response, 'POST');
    refuseForeignRequest(request);
    await act(request, response);
    return;
  }
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const file = findPageFile(path);
  if (!file && path !== '/settings.json' && path !== '/deployments.json') {
    throw new Refusal(404, 'not_found', 'There is nothing at this path.');
  }
  if (!isRead) throw notAllowed(response, 'GET, HEAD');
  if (file) await sendPageFile(file, response);
  else if (path === '/deployments.json') await sendOverview(options, response);
  else sendJson(response, 200, { gatewayUrl: options.gatewayUrl, tenant: options.tenant });
}

type Action = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function findAction(options: ConsoleOptions, path: string): Action | undefined {
  if (path === '/token') return (...exchange) => giveReadToken(options, ...exchange);
  if (path === '/deployments') return (...exchange) => registerDeployment(options, ...exchange);
  const invocation = cancelledInvocation(path);
  if (invocation !== undefined) {
    return (_, response) => cancelInvocation(options, invocation, response);
  }
  if (isCommandPath(path)) return (...exchange) => forwardCommand(options, path, ...exchange);
  return undefined;
}

/** Request: `{"prefix": …}`. Response: `{"token", "ttlSeconds"}`. */
async function giveReadToken(
  { tenant, readTokenSecret, tokenTtlSeconds = 60 }: ConsoleOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prefix } = await readJsonBody(request);
  const claims = readTokenClaims(tenant, prefix);
  if (!claims) throw new Refusal(403, 'prefix_not_allowed', 'The page may not read there.');
  const token = await mintReadToken(readTokenSecret, claims, tokenTtlSeconds);
  sendJson(response, 200, { token, ttlSeconds: tokenTtlSeconds });
}

function notAllowed(response: ServerResponse, methods: string): Refusal {
  response.setHeader('allow', methods);
  return new Refusal(405, 'method_not_allowed', `Use ${methods}.`);
}

/** Only our own files may run, and they may connect only to us and to the gateway. */
function setSecurityHeaders({ gatewayUrl }: ConsoleOptions, response: ServerResponse): void {
  const policy = [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `img-src 'self'`,
    `connect-src 'self' ${new URL(gatewayUrl).origin}`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    // Text never becomes markup: innerHTML and similar setters throw.
    `require-trusted-types-for 'script'`,
    `trusted-types 'none'`,
  ];
  response.setHeader('content-security-policy', policy.join('; '));
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
}
