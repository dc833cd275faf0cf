import type { IncomingMessage, ServerResponse } from 'node:http';

const MAX_BODY_BYTES = 65_536;

/** A refusal of the console. The detail never contains a credential. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  response.writeHead(status, headers).end(JSON.stringify(body));
}

/** In the form of the gateway's own errors (RFC 9457), so that the page handles both alike. */
export function sendRefusal(response: ServerResponse, error: unknown): void {
  if (!(error instanceof Refusal)) console.error('console:', error);
  const refusal =
    error instanceof Refusal
      ? error
      : new Refusal(500, 'internal_error', 'A fault of the console: see its output.');
  const { status, code, message } = refusal;
  const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };
  response.writeHead(status, headers).end(JSON.stringify({ status, code, detail: message }));
}

/** Reads even a body that is too long to its end, because ending early would also cut the response off. */
export async function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BODY_BYTES) {
    throw new Refusal(413, 'body_too_large', `Send at most ${MAX_BODY_BYTES} bytes.`);
  }
  return Buffer.concat(chunks);
}

export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await readBody(request);
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Falls through to the refusal.
  }
  throw new Refusal(400, 'invalid_body', 'Send a JSON object.');
}
