import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface LaggingLink {
  port: number;
  stop(): Promise<void>;
}

/**
 * A TCP line to a server on this machine on which answers take up to so many milliseconds, each its own
 * time: long enough for something to happen between an answer's making and its coming.
 */
export async function startLaggingLink(serverPort: number, maxLagMs: number): Promise<LaggingLink> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ port: serverPort, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(upstream);
    let last = Promise.resolve();
    upstream.on('data', (bytes) => {
      const due = new Promise((resolve) => setTimeout(resolve, Math.random() * maxLagMs));
      last = last.then(async () => {
        await due;
        client.write(bytes);
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
