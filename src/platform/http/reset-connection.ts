import type { Socket } from 'node:net';

/**
 * Resets a connection. Its client cannot mistake the part that it got for the whole, and the kernel frees the
 * unread bytes. After a close the kernel would keep up to 4 MiB per connection for minutes.
 *
 * A connection that Node is shutting down is closed instead, because Node would leak it (seen on Node 24).
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
