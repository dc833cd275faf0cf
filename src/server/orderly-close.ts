import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps a connection that ends, after its last response or after a time without requests, open until its client
 * has read everything or `StalledClients` ends it. By default Node closes a connection as soon as the kernel has
 * all bytes. The kernel then holds up to 4 MiB for minutes for each client that does not read, and no limit or
 * clock of the gateway knows of it.
 */
export function closeInOrder(server: Server): void {
  server.prependListener('connection', (socket: Socket) => {
    // Node calls this after the last response of a connection.
    socket.destroySoon = () => endConnection(socket);
  });
  // With a listener for it Node does not destroy a connection that was idle for too long.
  server.on('timeout', endConnection);
}

/** Tells the client that nothing more comes. Once it closes its side, too, Node destroys the connection. */
function endConnection(socket: Socket): void {
  if (!socket.destroyed) socket.end();
}
