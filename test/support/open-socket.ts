import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection of a client. Its errors, such as a reset, are no failure of the test. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}
