import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A history store that keeps every read waiting until the test lets it answer. */
export interface SlowStore {
  url: string;
  /** Resolves with the next read that is waiting. */
  nextRead(): Promise<ServerResponse>;
  close(): void;
}

export async function startSlowStore(): Promise<SlowStore> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/stream`,
    nextRead: async () => {
      const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
      return response;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
