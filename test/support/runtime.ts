import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { choosePorts } from '../../local/stack/ports.ts';
import { AUTHORIZED } from './credentials.ts';
import { listening } from './listening.ts';

export const ACCEPTED = '{"invocationId":"inv_1","status":"Accepted"}';
export const PREVIOUSLY = '{"invocationId":"inv_1","status":"PreviouslyAccepted"}';
export const KEYED = { 'idempotency-key': 'k1' };

export interface CommandOutcome {
  status: number;
  body: Record<string, unknown>;
  isReplay: boolean;
  retryAfter: string | null;
}

/** Sends a message to the entity `chat/<id>` through the gateway at `url`. */
export async function sendCommand(
  url: string,
  headers: Record<string, string> = {},
  id = 'a1',
  { signal }: { signal?: AbortSignal } = {},
): Promise<CommandOutcome> {
  const response = await fetch(`${url}/api/a/chat/${id}/send`, {
    method: 'POST',
    body: `to ${id}`,
    signal,
    headers: { ...AUTHORIZED, 'x-request-id': `to-${id}`, ...headers },
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    isReplay: response.headers.get('idempotency-replayed') === 'true',
    retryAfter: response.headers.get('retry-after'),
  };
}

/** A port on which nothing listens at the moment. */
export async function freePort(): Promise<number> {
  const { port } = await choosePorts({ port: 0 });
  return port;
}

export interface ListeningRuntime {
  /** The targets of the commands that it received, in order. */
  targets: string[];
  /** The most connections that were open at once. */
  mostConnections: number;
  stop(): Promise<void>;
}

/** Listens on a port as a runtime that accepts commands, or answers as the script says. */
export async function listenAsRuntime(
  port: number,
  script: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
    response.writeHead(202).end(ACCEPTED),
  onConnection: (socket: Socket) => void = () => undefined,
): Promise<ListeningRuntime> {
  const targets: string[] = [];
  const server = createServer((request, response) => {
    targets.push(request.url ?? '');
    request.resume().once('end', () => script(request, response));
  });
  const { openSockets, stop } = await listening(server, port);
  const runtime: ListeningRuntime = { targets, mostConnections: 0, stop };
  server.on('connection', (socket) => {
    onConnection(socket);
    runtime.mostConnections = Math.max(runtime.mostConnections, openSockets.size);
  });
  return runtime;
}
