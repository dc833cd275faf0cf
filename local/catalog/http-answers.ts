import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Caches must not store errors. */
export const NO_STORE = { 'cache-control': 'no-store', 'surrogate-control': 'no-store' };
export const NO_CACHE = { 'cache-control': 'no-cache' };

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  res.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    ...headers,
  });
  // For HEAD Node sends only the headers.
  res.end(bytes);
}

/**
 * The CORS headers of every response of Electric except its 401: it echoes the origin, without a `Vary`. A gateway
 * must remove them, so the stand-in sends them too.
 */
export function setElectricCors(req: IncomingMessage, res: ServerResponse): void {
  res.setHeader('access-control-allow-origin', req.headers.origin ?? '*');
  res.setHeader(
    'access-control-expose-headers',
    'electric-cursor,electric-handle,electric-offset,electric-schema,electric-up-to-date,electric-has-data',
  );
  res.setHeader('access-control-allow-methods', 'GET, HEAD, OPTIONS');
}

/** Electric's preflight allows only `If-None-Match`, so a browser with a bearer token fails. */
export function answerPreflight(req: IncomingMessage, res: ServerResponse): void {
  const asked = (req.headers['access-control-request-headers'] ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  res.writeHead(204, {
    'access-control-max-age': '86400',
    ...(asked.includes('if-none-match') ? { 'access-control-allow-headers': 'if-none-match' } : {}),
  });
  res.end();
}
