import type { Socket } from 'node:net';

/**
 * Ends a connection by a reset: its client cannot take what it got for the whole, and the kernel lets go of what the
 * client has not taken. Node does not reset a connection that it is closing already, and leaks it when it is asked to
 * (seen on Node 24): such a one is closed at once.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
