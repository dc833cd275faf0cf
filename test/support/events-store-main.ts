/** A history store as a program. It holds every read and answers all of them when its parent tells it to. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Report } from './child-store.ts';
import { TLS_IDENTITY } from './tls-identity.ts';

const polls = new Set<ServerResponse>();
const streams = new Set<ServerResponse>();
let seq = 0;
let isDue = false;
let accepted = 0;
let asked = 0;

const server: Server =
  process.argv[2] === 'https' ? createTlsServer(TLS_IDENTITY, serve) : createServer(serve);
server.keepAliveTimeout = 60_000;

function serve(request: IncomingMessage, response: ServerResponse): void {
  const isStream = request.url?.includes('live=sse') === true;
  const group = isStream ? streams : polls;
  if (!request.url?.includes('live=')) {
    response.end('at once');
    return;
  }
  if (isStream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': open\n\n');
  }
  asked++;
  group.add(response);
  response.on('close', () => {
    group.delete(response);
    report();
  });
  report();
}

server.on('connection', () => accepted++);

process.on('message', ({ bytes }: { bytes: number }) => {
  seq++;
  const text = 'x'.repeat(bytes);
  const event = `data: {"seq":${seq},"text":"${text}"}\n\nevent: control\ndata: {"streamNextOffset":"${seq}"}\n\n`;
  for (const response of streams) response.write(event);
  for (const response of polls) {
    response.setHeader('stream-next-offset', String(seq));
    response.end(`{"seq":${seq},"text":"${text}"}`);
  }
  polls.clear();
  report();
});

function report(): void {
  if (isDue) return;
  isDue = true;
  setImmediate(() => {
    isDue = false;
    const waiting = polls.size + streams.size;
    process.send?.({ waiting, answers: seq, accepted, asked } satisfies Report);
  });
}

server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.send?.({ port: (server.address() as AddressInfo).port } satisfies Report);
});
