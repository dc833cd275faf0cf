import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { listening, type Listening } from './listening.ts';

/** A request as it reached the upstream. */
export interface SeenRequest {
  method: string;
  /** The raw request target. */
  target: string;
  rawHeaders: string[];
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export interface ScriptedUpstream extends Listening {
  /** Every request so far, whole. */
  seen: SeenRequest[];
}

export type Script = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** As long as the gateway keeps one: a test decides whether a connection is kept, not how busy the machine is. */
const KEEP_ALIVE_MS = 75_000;

/** A real HTTP server that records requests and answers with a given script. */
export async function startScriptedUpstream(script: Script): Promise<ScriptedUpstream> {
  const seen: SeenRequest[] = [];
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
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
  return { ...(await listening(server)), seen };
}

/** A plain TCP server, for responses that no HTTP library would write. */
export async function startRawUpstream(onConnection: (socket: Socket) => void): Promise<Listening> {
  return listening(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      onConnection(socket);
    }),
  );
}
