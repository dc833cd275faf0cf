import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { INSTANT_BODY, INSTANT_HEADERS, MOUNT_PATH } from './instant.ts';

/** Node's own server, which answers every read at once with 1 KiB. Prints where its streams are. */
const LISTEN_BACKLOG = 4_096;
/** Like the nginx upstream it keeps connections open between two rounds. */
const KEEP_ALIVE_TIMEOUT_MS = 300_000;

const headers = Object.entries({
  'Content-Type': 'application/json',
  'Content-Length': String(INSTANT_BODY.length),
  ...INSTANT_HEADERS,
}).flat();

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, (request, response) => {
  response.writeHead(200, [...headers, 'ETag', `"${request.url}"`]).end(INSTANT_BODY);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: LISTEN_BACKLOG }, () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}${MOUNT_PATH}`);
});
