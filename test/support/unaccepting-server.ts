import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/**
 * Listens with a queue of two connections, then blocks its thread until the test releases it. Then it accepts commands as
 * the runtime does.
 */
const WORKER = `
  const BODY = '{"invocationId":"inv_1","status":"Accepted"}';
  const ANSWER = 'HTTP/1.1 202 Accepted\\r\\nContent-Length: ' + BODY.length + '\\r\\n\\r\\n' + BODY;
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer((socket) => {
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (chunk.includes('POST ')) socket.write(ANSWER);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => parentPort.postMessage({ closedAfterBytes: bytes }));
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
  /** The same; resolves with the bytes that the next one to close has brought. */
  acceptUntilOneCloses(): Promise<number>;
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
  const accept = (): void => {
    Atomics.store(new Int32Array(gate), 0, 1);
    Atomics.notify(new Int32Array(gate), 0);
  };
  return {
    url: `http://127.0.0.1:${port}`,
    accept,
    acceptUntilOneCloses: async () => {
      const closed = once(worker, 'message') as Promise<[{ closedAfterBytes: number }]>;
      accept();
      return (await closed)[0].closedAfterBytes;
    },
    stop: async () => {
      await worker.terminate();
      for (const socket of fillers) socket.destroy();
    },
  };
}
