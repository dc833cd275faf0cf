import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { readBody, Refusal } from './answers.ts';

export interface GatewayAccess {
  /** Without a slash at its end, for example `http://127.0.0.1:8787`. */
  gatewayUrl: string;
  apiKey: string;
}

/** A little longer than the gateway waits for an upstream, so that the gateway's response wins. */
const ANSWER_TIMEOUT_MS = 20_000;
/** Shorter than the page waits for it, so that the page can tell a gateway that is silent from a console that is. */
const HEALTH_TIMEOUT_MS = 2_500;

const AGENT = /[A-Za-z][\w.-]{0,62}\/[\w-][\w.~:@-]{0,127}/.source;
/** What the page may ask the gateway with the API key. */
const CALLS: [methods: string, path: RegExp][] = [
  ['POST', new RegExp(`^/api/(?:spawn|a/${AGENT}/(?:send|control))$`)],
  ['GET POST', /^\/registry\/deployments$/],
  ['DELETE', /^\/registry\/deployments\/dp_\w{1,64}$/],
  ['GET', /^\/registry\/services$/],
  ['POST', /^\/registry\/query$/],
  ['GET', /^\/health$/],
  ['PATCH', /^\/registry\/invocations\/inv_\w{1,64}\/(?:cancel|kill|purge)$/],
];
/** What it may ask besides, where nobody mints read tokens for it. */
const READS: [methods: string, path: RegExp][] = [
  ['GET', /^\/shapes\/v1\/shape$/],
  ['GET', new RegExp(`^/streams/t/[\\w-]{1,63}/agents/${AGENT}/timeline$`)],
];
const COMMAND = /^\/api\//;
const READ = /^\/(?:shapes|streams)\//;

const REQUEST_HEADERS = [
  'accept',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'x-request-id',
];
const RESPONSE_HEADER =
  /^(?:content-type|etag|idempotency-replayed|retry-after|x-request-id|stream-.*|electric-.*)$/;

/** The methods with which the page may ask for this path of the gateway, or undefined if it may not. */
export function allowedMethods(path: string, mayRead: boolean): string[] | undefined {
  const rules = mayRead ? [...CALLS, ...READS] : CALLS;
  return rules.find(([, pattern]) => pattern.test(path))?.[0].split(' ');
}

export function isRead(path: string): boolean {
  return READS.some(([, pattern]) => pattern.test(path));
}

/** Forwards a request of the page with the API key and few headers. The page makes the Idempotency-Key and repeats it. */
export async function forward(
  { gatewayUrl, apiKey }: GatewayAccess,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { url = '', method = 'GET' } = request;
  const key = request.headers['idempotency-key'];
  if (COMMAND.test(url) && (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))) {
    const detail = 'Give the command an Idempotency-Key of 1 to 255 visible characters.';
    throw new Refusal(400, 'invalid_idempotency_key', detail);
  }
  const headers: Record<string, string> = { authorization: `Bearer ${apiKey}` };
  for (const name of REQUEST_HEADERS) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  const body = method === 'GET' ? undefined : await readBody(request);
  const left = new AbortController();
  response.once('close', () => left.abort());
  const timeoutMs = url === '/health' ? HEALTH_TIMEOUT_MS : ANSWER_TIMEOUT_MS;
  const timeout = READ.test(url) ? [] : [AbortSignal.timeout(timeoutMs)];
  const answer = await ask(`${gatewayUrl}${url}`, {
    method,
    headers,
    ...(body && body.length > 0 && { body }),
    signal: AbortSignal.any([left.signal, ...timeout]),
  });
  // The gateway's responses contain no credential. Only these headers are forwarded.
  response.setHeader('cache-control', 'no-store');
  for (const [name, value] of answer.headers) {
    if (RESPONSE_HEADER.test(name)) response.setHeader(name, value);
  }
  response.writeHead(answer.status);
  // The types of the stream in the browser and in Node differ.
  if (!answer.body) response.end();
  else await pipeline(Readable.fromWeb(answer.body as ReadableStream), response);
}

async function ask(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: 'manual' });
  } catch {
    // The reason contains addresses and is not sent. A command may or may not have been handled.
    throw new Refusal(502, 'gateway_unreachable', 'The gateway did not answer the console.');
  }
}
