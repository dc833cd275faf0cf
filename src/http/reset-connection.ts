import type { Socket } from 'node:net';

/**
 * Ends a connection by a reset: its client cannot take what it got for the whole, and the kernel lets go of what the
 * client has not taken. With a close the kernel would go on trying for minutes, up to 4 MiB for each.
 *
 * Node cannot reset a connection while it shuts it down, and leaks it when it is asked to (seen on Node 24): such a
 * one is closed.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
