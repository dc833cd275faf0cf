import type { ServerResponse } from 'node:http';
import { resetConnection } from './reset-connection.ts';

/**
 * Breaks off an answer that has begun, so that the client cannot take what it got for the whole.
 *
 * Toward HTTP/1.0 it may be that only the end of the connection tells the end of the body (RFC 9112 §6.3):
 * there an ordinary close would be that very end, and a reset is what tells the difference.
 */
export function breakOff(response: ServerResponse): void {
  const { socket, useChunkedEncodingByDefault: isHttp11 } = response;
  // Its turn has not come: those before it on the connection are answered first.
  if (!socket) response.once('socket', (itsSocket) => itsSocket.destroy());
  // What was written in this turn of the event loop: Node 22 would let it fall.
  socket?.uncork();
  if (socket && response.headersSent && !isHttp11) resetConnection(socket);
  else destroyAnswer(response);
}

/**
 * Destroys a response, also one that waits behind others on its connection, and emits `close`. For a waiting one
 * Node 22 emits nothing, and closes the connection when its turn comes.
 */
export function destroyAnswer(response: ServerResponse): void {
  const listenersBefore = response.listenerCount('socket');
  response.destroy();
  const added = response.rawListeners('socket').slice(listenersBefore);
  if (added.length === 0) return;
  for (const listener of added) response.off('socket', listener as () => void);
  process.nextTick(() => {
    response.emit('close');
    // Once: its turn comes all the same.
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
