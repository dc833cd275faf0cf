import type { ServerResponse } from 'node:http';

/**
 * Breaks off an answer that has begun, so that the client cannot take what it got for the whole.
 *
 * Where only the end of the connection tells the end of the body (RFC 9112 §6.3, toward HTTP/1.0), an
 * ordinary close would be that very end, and a reset is what tells the difference.
 */
export function breakOff(response: ServerResponse): void {
  const { socket } = response;
  const isEndedByClose = !response.chunkedEncoding && !response.hasHeader('content-length');
  if (socket && response.headersSent && isEndedByClose) socket.resetAndDestroy();
  else response.destroy();
}
