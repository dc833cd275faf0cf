import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { Changes } from './changes.ts';
import { listening } from './listening.ts';
import { awaited } from './until.ts';

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
  const changes = new Changes();
  const server = createServer((incoming, response) => {
    const { method = '', url: target = '', headers } = incoming;
    passOn(`${targetUrl}${target}`, incoming, response);
    requests.push({ method, target, headers });
    changes.tell();
  });
  return {
    ...(await listening(server)),
    requests,
    until: (holds, count = 1) =>
      awaited(
        () => `${count} requests for which ${String(holds)}, after ${requests.length}`,
        changes.until(() => requests.filter(holds).length >= count),
      ),
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
