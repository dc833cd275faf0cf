import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Has connections that end, behind a last answer or after a time without requests, stay open until their client has
 * taken everything, or is ended by `StalledClients`. By itself Node closes a connection as soon as the kernel has all
 * of it. What is closed is the kernel's alone: it holds up to 4 MiB for each client that does not read, for minutes,
 * and neither the cap of connections nor any clock of the gateway's knows of it.
 */
export function closeInOrder(server: Server): void {
  server.prependListener('connection', (socket: Socket) => {
    // What Node calls behind the last answer of a connection.
    socket.destroySoon = () => endConnection(socket);
  });
  // With a listener for it Node does not destroy a connection that was idle for too long.
  server.on('timeout', endConnection);
}

/** Tells the client that nothing more comes. Once it closes its side, too, Node destroys the connection. */
function endConnection(socket: Socket): void {
  if (!socket.destroyed) socket.end();
}
