import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps an ending connection open, after its last response or an idle timeout, until its client has read everything
 * or `StalledClients` closes it. By default Node closes a connection as soon as the kernel has all bytes. The
 * kernel would then hold up to 4 MiB for minutes for each client that does not read, outside every limit of the
 * gateway.
 */
export function closeInOrder(server: Server): void {
  server.prependListener('connection', (socket: Socket) => {
    // Node calls this after the last response of a connection.
    socket.destroySoon = () => endConnection(socket);
  });
  // With a listener for `timeout` Node does not destroy an idle connection.
  server.on('timeout', endConnection);
}

/** Closes the sending side. Node destroys the connection when the client closes its side. */
function endConnection(socket: Socket): void {
  if (!socket.destroyed) socket.end();
}
