import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** A response as it was sent to a client. */
export interface RecordedAnswer {
  method: string;
  /** The raw request target. */
  target: string;
  status: number;
  /** By lower-case name; several values of one name with commas between. */
  headers: ReadonlyMap<string, string>;
  /** Undefined where it was broken off, or is too large to look into. */
  body: Buffer | undefined;
}

const MAX_BODY_BYTES = 1_048_576;

/** The events with which an HTTP server emits requests. */
const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'];

/** Reports every response of a server after its end, and changes none. */
export function recordAnswers(server: Server, onAnswer: (answer: RecordedAnswer) => void): void {
  for (const event of REQUEST_EVENTS) {
    // An event without a listener has a meaning of its own.
    if (server.listenerCount(event) === 0) continue;
    server.prependListener(event, (request: IncomingMessage, response: ServerResponse) => {
      record(request, response, onAnswer);
    });
  }
}

function record(
  request: IncomingMessage,
  response: ServerResponse,
  onAnswer: (answer: RecordedAnswer) => void,
): void {
  // Middleware rewrites it.
  const { method = '', url: target = '' } = request;
  const body = collectBody(response);
  response.once('close', () => {
    if (!response.headersSent) return;
    onAnswer({
      method,
      target,
      status: response.statusCode,
      headers: sentHeaders(response),
      body: response.writableFinished ? body() : undefined,
    });
  });
}

/** The headers in the head that Node has written. `getHeaders` lacks the headers that `writeHead` was given. */
function sentHeaders(response: ServerResponse): Map<string, string> {
  const head = Reflect.get(response, '_header') as string;
  const headers = new Map<string, string>();
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon === -1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

type Chunk = string | Uint8Array | (() => void) | null | undefined;

/** Records what is written. Returns all of it, or undefined if it is too much. */
function collectBody(response: ServerResponse): () => Buffer | undefined {
  const chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Chunk, encoding: unknown): void => {
    if (chunk === null || chunk === undefined || typeof chunk === 'function') return;
    const isNamed = typeof chunk === 'string' && typeof encoding === 'string';
    const bytes = isNamed
      ? Buffer.from(chunk, encoding as BufferEncoding)
      : Buffer.from(chunk as Uint8Array);
    length += bytes.length;
    if (length <= MAX_BODY_BYTES) chunks.push(bytes);
  };
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.write = ((...args: unknown[]) => {
    take(args[0] as Chunk, args[1]);
    return write(...args);
  }) as typeof response.write;
  response.end = ((...args: unknown[]) => {
    take(args[0] as Chunk, args[1]);
    return end(...args);
  }) as typeof response.end;
  return () => (length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined);
}
