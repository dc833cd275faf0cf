import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

/**
 * For each name its wanted port where that is free on the loopback interface, else a free one.
 * 0 wants any free one. No two names get the same.
 */
export async function choosePorts<Name extends string>(
  wanted: Record<Name, number>,
): Promise<Record<Name, number>> {
  const held: Server[] = [];
  const chosen = { ...wanted };
  try {
    for (const name of Object.keys(wanted) as Name[]) {
      const server = (await listen(wanted[name])) ?? (await listen(0));
      if (!server) throw new Error('No port is free.');
      // Held until all are chosen: a port let go of could be given out twice.
      held.push(server);
      chosen[name] = (server.address() as AddressInfo).port;
    }
  } finally {
    await Promise.all(held.map(close));
  }
  return chosen;
}

async function listen(port: number): Promise<Server | undefined> {
  const server = createServer().listen({ port, host: '127.0.0.1' });
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' || code === 'EACCES') return undefined;
    throw error;
  }
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
