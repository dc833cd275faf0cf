import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';

/** A request as it reached the upstream. */
export interface SeenRequest {
  method: string;
  /** The raw request target. */
  target: string;
  rawHeaders: string[];
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export interface ScriptedUpstream {
  url: string;
  port: number;
  /** Every request so far, whole. */
  seen: SeenRequest[];
  /** Sockets open just now. */
  openSockets: Set<Socket>;
  stop(): Promise<void>;
}

export type Script = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** A real HTTP server that records requests and answers with a given script. */
export async function startScriptedUpstream(script: Script): Promise<ScriptedUpstream> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { method = '', url: target = '', rawHeaders, headers } = request;
      seen.push({ method, target, rawHeaders, headers, body });
      script(request, response, body);
    });
  });
  return { ...(await listen(server)), seen };
}

/** A plain TCP server, for responses that no HTTP library would write. */
export async function startRawUpstream(
  onConnection: (socket: Socket) => void,
): Promise<Omit<ScriptedUpstream, 'seen'>> {
  return listen(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      onConnection(socket);
    }),
  );
}

async function listen(server: Server | TcpServer): Promise<Omit<ScriptedUpstream, 'seen'>> {
  const openSockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    openSockets.add(socket);
    socket.once('close', () => openSockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
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
