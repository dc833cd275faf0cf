import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DurableStreamTestServer } from '@durable-streams/server';

/**
 * The history store of `@durable-streams/server` in a process of its own, in memory, that counts the
 * reads that it gets. Prints where its streams are and where it tells the count.
 */
const LONG_POLL_TIMEOUT_MS = 300_000;

let reads = 0;
const store = new DurableStreamTestServer({ port: 0, longPollTimeout: LONG_POLL_TIMEOUT_MS });
const origin = await store.start();
// It keeps its HTTP server to itself.
(Reflect.get(store, 'server') as Server).on('request', ({ method }) => {
  if (method === 'GET') reads++;
});

const counter = createServer((_, response) => {
  response.end(JSON.stringify({ reads }));
});
counter.listen(0, '127.0.0.1', () => {
  const { port } = counter.address() as AddressInfo;
  const ready = { streamsUrl: `${origin}/v1/stream`, countUrl: `http://127.0.0.1:${port}` };
  console.log(JSON.stringify(ready));
});
