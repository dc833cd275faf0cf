import { once } from 'node:events';
import { createServer, request as askPart } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';

/** Where a server listens: a Unix socket, or a port of the loopback interface. */
export type Way = { path: string } | { port: number };

export interface Door {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * An HTTP server on the loopback interface in front of a part. Callers with the credential use it like the part itself. Of
 * several `ways`, a request takes the first that opens.
 */
export async function openDoor(
  port: number,
  ways: () => readonly Way[],
  credential: string,
): Promise<Door> {
  const server = createServer(
    withCredential(credential, (request, response) => {
      void connectFirst(ways()).then((socket) => {
        if (socket) pass(request, response, socket);
        // The part is gone: the client sees what it would see of the part itself.
        else request.socket.destroy();
      });
    }),
  );
  // Longer than the gateway keeps an idle connection, so that it does not meet a closed one.
  server.keepAliveTimeout = 60_000;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * A listener for callers with this credential, which it keeps to itself. A page of another site cannot know it, and
 * neither can another local system on this machine.
 */
export function withCredential(credential: string, listener: RequestListener): RequestListener {
  return (request, response) => {
    const isKnown = hasCredential(request, credential);
    delete request.headers.authorization;
    if (isKnown) listener(request, response);
    else refuse(response, 401, 'This part of the local system answers its own gateway only.');
  };
}

export function hasCredential({ headers }: IncomingMessage, credential: string): boolean {
  return headers.authorization === `Bearer ${credential}`;
}

/**
 * Whether a page in a browser may have sent the request. A page of another site sends `Origin` or `Sec-Fetch-Site`.
 * With DNS rebinding a page has this address as its own, but `Host` is still the page's name.
 */
export function isFromPage({ headers, socket }: IncomingMessage): boolean {
  const ownHosts = ['127.0.0.1', 'localhost'].map((name) => `${name}:${socket.localPort}`);
  const isForeignHost = !ownHosts.includes(headers.host ?? '');
  return isForeignHost || headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
  response.end(`${reason}\n`);
}

/** The first way that opens, or undefined. */
export async function connectFirst(ways: readonly Way[]): Promise<Socket | undefined> {
  for (const way of ways) {
    const socket = connect('path' in way ? way : { ...way, host: '127.0.0.1' });
    try {
      await once(socket, 'connect');
      return socket;
    } catch {
      socket.destroy();
    }
  }
  return undefined;
}

function pass(request: IncomingMessage, response: ServerResponse, socket: Socket): void {
  const { method, url: path } = request;
  // A connection of its own, which the part cannot have closed in the meantime. If the part closed it after its answer, a
  // write of Node that ends the request would fail, and Node would drop the answer.
  const headers = { ...request.headers, connection: 'keep-alive' };
  const createConnection = (): Socket => socket;
  const asked = askPart({ createConnection, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  });
  asked.on('error', () => request.socket.destroy());
  response.on('close', () => {
    asked.destroy();
    socket.destroy();
  });
  request.pipe(asked);
}
