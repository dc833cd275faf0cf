import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { connectFirst } from '../stack/door.ts';
import { HealthyWays, type Copy } from './healthy-ways.ts';

/**
 * One port of the loopback interface for several gateways, as a load balancer would have it: each connection goes to the next
 * copy that is well. The connections of a copy that answers no more are cut, because a frozen process keeps them open.
 */
export async function openFront(
  port: number,
  copies: readonly Copy[],
): Promise<() => Promise<void>> {
  const open = new Map<Socket, unknown>();
  const ways = new HealthyWays(copies, (way) => {
    for (const [socket, itsWay] of open) if (itsWay === way) socket.destroy();
  });
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => client.destroy());
    const inTurn = ways.next();
    void connectFirst(inTurn).then((copy) => {
      if (!copy) {
        client.destroy();
        return;
      }
      const way = inTurn.find((each) => 'port' in each && each.port === copy.remotePort);
      open.set(copy, way);
      copy.on('error', () => copy.destroy());
      copy.once('close', () => {
        open.delete(copy);
        client.destroy();
      });
      client.once('close', () => copy.destroy());
      client.pipe(copy).pipe(client);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    ways.stop();
    const closed = once(server, 'close');
    server.close();
    for (const socket of open.keys()) socket.destroy();
    await closed;
  };
}
