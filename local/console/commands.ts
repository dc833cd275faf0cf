import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, Refusal } from './answers.ts';

interface GatewayAccess {
  gatewayUrl: string;
  apiKey: string;
}

/** A little longer than the gateway waits for the runtime, so that the gateway's response wins. */
const ANSWER_TIMEOUT_MS = 20_000;

// The paths of the gateway for which the API key may be used.
const COMMAND =
  /^\/api\/(?:spawn|a\/[A-Za-z][\w.-]{0,62}\/[A-Za-z0-9][\w.~:@-]{0,127}\/(?:send|control))$/;

export function isCommandPath(path: string): boolean {
  return COMMAND.test(path);
}

/** Forwards the page's command with the API key. The page makes the Idempotency-Key and repeats it. */
export async function forwardCommand(
  { gatewayUrl, apiKey }: GatewayAccess,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    const detail = 'Give the command an Idempotency-Key of 1 to 255 visible characters.';
    throw new Refusal(400, 'invalid_idempotency_key', detail);
  }
  const requestId = request.headers['x-request-id'];
  const body = await readBody(request);
  // The gateway's responses contain no credential. Only these headers are forwarded.
  const answer = await ask(`${gatewayUrl}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
      // The gateway uses it if it is valid, and creates one otherwise.
      ...(typeof requestId === 'string' && { 'x-request-id': requestId }),
    },
    body,
  });
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  for (const name of ['content-type', 'idempotency-replayed', 'retry-after', 'x-request-id']) {
    const value = answer.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  response.writeHead(answer.status, headers).end(answer.body);
}

async function ask(
  url: string,
  init: RequestInit,
): Promise<{ status: number; headers: Headers; body: Buffer }> {
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const answer = await fetch(url, { ...init, redirect: 'manual', signal });
    const body = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, headers: answer.headers, body };
  } catch {
    // The reason contains addresses and is not sent. The command may or may not have been handled.
    throw new Refusal(502, 'gateway_unreachable', 'The gateway did not answer the console.');
  }
}
