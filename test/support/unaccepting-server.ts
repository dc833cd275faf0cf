import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/**
 * Listens with a queue of two connections, then blocks its thread until the test releases it. Then it accepts commands as
 * the runtime does, and says for which id the first one was.
 */
const WORKER = `
  let first;
  const answer = (request) => {
    first ??= /chat.([^/]+)/.exec(request)[1];
    const body = '{"invocationId":"inv_' + first + '","status":"Accepted"}';
    return 'HTTP/1.1 202 Accepted\\r\\nContent-Length: ' + body.length + '\\r\\n\\r\\n' + body;
  };
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      if (chunk.includes('POST ')) socket.write(answer(chunk.toString()));
    });
    socket.on('error', () => undefined);
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage({ port: server.address().port });
    Atomics.wait(new Int32Array(workerData), 0, 0);
  });
`;

export interface UnacceptingServer {
  url: string;
  /** Takes connections from now on. */
  accept(): void;
  stop(): Promise<void>;
}

/**
 * A server to which no connection can be made although nothing refuses it: its backlog is full, and
 * Linux drops what comes on top without a word.
 */
export async function startUnacceptingServer(): Promise<UnacceptingServer> {
  const gate = new SharedArrayBuffer(4);
  const worker = new Worker(WORKER, { eval: true, workerData: gate });
  const [{ port }] = (await once(worker, 'message')) as [{ port: number }];
  const fillers: Socket[] = [];
  for (let i = 0; i < 2; i++) {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    fillers.push(socket);
    await once(socket, 'connect');
  }
  return {
    url: `http://127.0.0.1:${port}`,
    accept: () => {
      Atomics.store(new Int32Array(gate), 0, 1);
      Atomics.notify(new Int32Array(gate), 0);
    },
    stop: async () => {
      await worker.terminate();
      for (const socket of fillers) socket.destroy();
    },
  };
}
