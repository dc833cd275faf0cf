import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface Listening {
  url: string;
  port: number;
  /** Sockets open just now. */
  openSockets: Set<Socket>;
  /** Breaks every connection off, and resolves once the server has closed. */
  stop: () => Promise<void>;
}

/** Has a server listen on this machine, on a free port unless one is given. */
export async function listening(
  server: Server,
  givenPort = 0,
  host = '127.0.0.1',
): Promise<Listening> {
  const openSockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    openSockets.add(socket);
    socket.once('close', () => openSockets.delete(socket));
  });
  server.listen(givenPort, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    openSockets,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of openSockets) socket.destroy();
      await closed;
    },
  };
}
