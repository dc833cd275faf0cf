import type { ServerResponse } from 'node:http';
import { resetConnection } from './reset-connection.ts';

/**
 * Breaks off a response that has begun, so that the client cannot take the part for the whole. For HTTP/1.0 the end
 * of the connection can be the end of the body (RFC 9112 §6.3), so the connection is reset instead of closed.
 */
export function breakOff(response: ServerResponse): void {
  const { socket, useChunkedEncodingByDefault: isHttp11 } = response;
  // The response has no socket yet, because earlier responses on the connection come first.
  if (!socket) response.once('socket', (itsSocket) => itsSocket.destroy());
  // Node would drop what was written in this turn of the event loop: Node 22 keeps it in the socket, Node 26 in the response.
  response.uncork();
  socket?.uncork();
  if (socket && response.headersSent && !isHttp11) resetConnection(socket);
  else destroyAnswer(response);
}

/**
 * Destroys a response, even one that waits for earlier ones on its connection, and emits `close`. Node 22 emits
 * nothing for a waiting response, and closes the connection when its turn comes.
 */
export function destroyAnswer(response: ServerResponse): void {
  const listenersBefore = response.listenerCount('socket');
  response.destroy();
  const added = response.rawListeners('socket').slice(listenersBefore);
  if (added.length === 0) return;
  for (const listener of added) response.off('socket', listener as () => void);
  process.nextTick(() => {
    response.emit('close');
    // `close` must be emitted only once, although Node still reaches its turn.
    response.removeAllListeners('close');
  });
}

/**
 * Resets the connection of a client that does not read its response. The kernel then frees its buffers at once;
 * after an ordinary close it would keep them for minutes.
 */
export function dropClient(response: ServerResponse): void {
  if (response.socket) resetConnection(response.socket);
  else breakOff(response);
}
