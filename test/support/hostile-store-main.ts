/** A history store as a program. Its paths say how large and how many its responses and events are. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Report } from './child-store.ts';

const PIECE = Buffer.alloc(65_536, 'x');
/** A small event, as agents send word by word. */
const EVENT = 'data: {"word":"hello"}\n\nevent: control\ndata: {"o":1}\n\n';

const held = new Map<ServerResponse, number>();
let answers = 0;

const server = createServer((request, response) => {
  const [, kind, bytes] = /\/(large|hold|words|quiet)-?(\d*)/.exec(request.url ?? '') ?? [];
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  request.resume();
  if (kind === 'large') sendBody(response, Number(bytes));
  else if (kind === 'words') sendWords(response);
  else if (kind === 'quiet') sendKeepAlives(response);
  else if (kind === 'hold') {
    held.set(response, Number(bytes));
    response.on('close', () => held.delete(response));
    process.send?.({ waiting: held.size, answers } satisfies Report);
  } else response.end('at once');
});
server.keepAliveTimeout = 60_000;

/** Answers all held reads. */
process.on('message', () => {
  answers++;
  for (const [response, bytes] of held) sendBody(response, bytes);
  held.clear();
});

function sendBody(response: ServerResponse, bytes: number): void {
  response.setHeader('content-length', bytes);
  let left = bytes;
  const write = (): void => {
    while (left > 0) {
      const piece = PIECE.subarray(0, left);
      left -= piece.length;
      if (!response.write(piece)) return void response.once('drain', write);
    }
    response.end();
  };
  write();
}

/** Sends each event in a chunk of its own, as fast as the reader takes them. */
function sendWords(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const write = (): void => {
    if (response.destroyed) return;
    for (let i = 0; i < 200; i++) response.write(EVENT);
    if (response.writableNeedDrain) response.once('drain', write);
    else setImmediate(write);
  };
  write();
}

function sendKeepAlives(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => {
    for (let i = 0; i < 5; i++) response.write(': keep-alive\n\n');
  }, 5);
  response.on('close', () => clearInterval(timer));
}

server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.send?.({ port: (server.address() as AddressInfo).port } satisfies Report);
});
