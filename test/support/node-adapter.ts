import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

type Handler = (request: Request) => Promise<Response>;
/** Express keeps the whole path there. */
type Incoming = IncomingMessage & { originalUrl?: string };

/** Answers a request of Node's HTTP server with a handler of web requests. Rejects for a request that is none. */
export async function answer(handler: Handler, incoming: Incoming, outgoing: ServerResponse) {
  const { method = 'GET', url, originalUrl = url, headers } = incoming;
  const request = new Request(`http://${headers.host}${originalUrl}`, {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]),
    ...(method === 'POST' && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }),
  });
  const response = await handler(request);
  outgoing.setHeaders(response.headers).writeHead(response.status);
  outgoing.end(await response.text());
}
