import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** How long a client may take to read a refusal and to close its side. */
const LINGER_MS = 2_000;

/** A response to a request for which Node made no response object. */
export interface RawRefusal {
  status: number;
  requestId: string;
  /** Further headers, by name. */
  headers?: Record<string, string>;
  body?: string;
}

/** The bytes of the refusal. */
export function refusalText({ status, requestId, headers, body = '' }: RawRefusal): string {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Sends a refusal and closes the connection, even if the client continues to send. */
export function refuseRaw(socket: Duplex, refusal: RawRefusal): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  // Closing with unread bytes in the socket resets the connection, and the client may lose the response (RFC 9112
  // §9.6).
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  socket.end(refusalText(refusal));
  socket.resume();
}
