import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that has passed. */
export interface PassedRequest {
  method: string;
  target: string;
  headers: IncomingMessage['headers'];
}

/** Forwards everything to a real server, and records the requests. */
export interface WatchedServer {
  readonly url: string;
  readonly requests: PassedRequest[];
  /** Fulfils once so many requests have come by, from the start on, for which this holds. */
  until(holds: (request: PassedRequest) => boolean, count?: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startWatchedServer(targetUrl: string): Promise<WatchedServer> {
  const requests: PassedRequest[] = [];
  const looks = new Set<() => void>();
  const server = createServer((incoming, response) => {
    const { method = '', url: target = '', headers } = incoming;
    passOn(`${targetUrl}${target}`, incoming, response);
    requests.push({ method, target, headers });
    for (const look of looks) look();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    until: (holds, count = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (requests.filter(holds).length < count) return;
          looks.delete(look);
          resolve();
        };
        looks.add(look);
        look();
      }),
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function passOn(url: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers } = incoming;
  const outgoing = request(url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}
