import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startGatewayChild, type GatewayChild } from '../support/gateway-child.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { openSocket } from '../support/open-socket.ts';
import { rawRequest } from '../support/raw-client.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';

const KEY = `Authorization: ${AUTHORIZED.authorization}`;
const MIB = 1_048_576;

describe('readers of a byte a second', () => {
  const READERS = 20;
  const CATCH_UP_BYTES = 64 * MIB;
  /** What the kernel and the streams on the way hold of one answer: the kernel's buffers grow while they are read (tcp(7)). */
  const HELD_BYTES = 16 * MIB;
  let upstream: Server;
  let gateway: GatewayChild;
  let sentBytes = 0;
  const readers: Socket[] = [];

  beforeAll(async () => {
    const piece = Buffer.alloc(65_536, 'x');
    upstream = createServer((_request, response) => {
      let left = CATCH_UP_BYTES;
      const write = (): void => {
        while (left > 0) {
          left -= piece.length;
          sentBytes += piece.length;
          if (!response.write(piece)) return void response.once('drain', write);
        }
        response.end();
      };
      write();
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    gateway = await startGatewayChild({
      env: { GATEWAY_HISTORY_URL: `http://127.0.0.1:${port}` },
    });
  });
  afterAll(async () => {
    for (const reader of readers) reader.destroy();
    await gateway?.stop();
    upstream?.closeAllConnections();
    upstream?.close();
  });

  it('pause the upstream, cost no memory, and get all in the end', async () => {
    // What a first large read makes the process take for good.
    await readWhole();
    const before = await gateway.residentBytes();
    sentBytes = 0;
    for (let i = 0; i < READERS; i++) readers.push(await slowReader());
    await untilNoMoreIsSent();

    expect(sentBytes).toBeLessThan(READERS * HELD_BYTES);
    for (let second = 0; second < 3; second++) {
      for (const reader of readers) reader.read(1);
      await untilNoMoreIsSent();
    }
    expect(sentBytes).toBeLessThan(READERS * HELD_BYTES);
    const grown = (await gateway.residentBytes()) - before;
    expect(grown).toBeLessThan(64 * MIB);

    const [patient, ...others] = readers;
    for (const reader of others) reader.destroy();
    expect(patient && (await countToEnd(patient))).toBeGreaterThanOrEqual(CATCH_UP_BYTES);
  });

  async function slowReader(): Promise<Socket> {
    const socket = await openSocket(gateway.port);
    socket.write(rawRequest('GET /streams/large', [KEY]));
    await once(socket, 'readable');
    return socket;
  }

  async function untilNoMoreIsSent(): Promise<void> {
    for (let last = -1; last !== sentBytes;) {
      last = sentBytes;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  async function readWhole(): Promise<void> {
    const socket = await slowReader();
    await countToEnd(socket);
  }

  function countToEnd(socket: Socket): Promise<number> {
    return new Promise((resolve) => {
      let bytes = 0;
      socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
      socket.once('end', () => resolve(bytes));
    });
  }
});

describe('senders of a byte a second', () => {
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  let server: Server;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    upstream = await startScriptedUpstream((_request, response) => response.end());
    gateway = await startTestGateway({
      GATEWAY_HISTORY_URL: upstream.url,
      GATEWAY_RUNTIME_INGRESS_URL: upstream.url,
    });
    server = gateway.running.app.getHttpServer() as Server;
    // The real ones take a minute and more; how often they are looked at is the real thing.
    server.headersTimeout = 500;
    server.requestTimeout = 1_000;
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway.stop();
    await upstream.stop();
  });

  const HEAD_WITH_BODY = ['Content-Length: 1000', 'Content-Type: application/json'];

  it.each([
    ['a head', `GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: `],
    ['the body of a command', rawRequest('POST /api/a/e/1/send', [KEY, ...HEAD_WITH_BODY])],
    [
      'a chunked command',
      `${rawRequest('POST /api/a/e/1/send', [KEY, 'Transfer-Encoding: chunked'])}3e8\r\n`,
    ],
    ['the body of an append', rawRequest('POST /streams/s', [KEY, ...HEAD_WITH_BODY])],
    ['a body that is refused', rawRequest('POST /streams/s', HEAD_WITH_BODY)],
  ])('are cut off within %s, and nothing is whole at an upstream', async (_, beginning) => {
    const socket = await open();
    // Not `once`: that rejects on the EPIPE of a write behind the end.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(beginning);
    const trickle = setInterval(() => socket.write('a'), 100);
    await closed;
    clearInterval(trickle);
    expect(upstream.seen).toEqual([]);
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  });

  it('do not wear out a connection whose requests come whole, however long it is idle between', async () => {
    const socket = await open();
    socket.setEncoding('latin1');
    for (let i = 0; i < 2; i++) {
      const data = once(socket, 'data');
      socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(String(await data)).toMatch(/^HTTP\/1\.1 200 /);
      // Longer than both limits.
      await new Promise((resolve) => setTimeout(resolve, 2_200));
    }
    expect(socket.destroyed).toBe(false);
  });

  it('that send nothing at all are asked by TCP whether they are still there', async () => {
    const socket = await open();
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    expect(await keepAliveTimers(gateway.port)).toBeGreaterThanOrEqual(1);
  });

  async function open(): Promise<Socket> {
    const socket = await openSocket(gateway.port);
    sockets.push(socket);
    return socket;
  }
});

/** Accepted connections of a port on which the kernel runs a keep-alive timer (proc(5), `tr` 02). */
async function keepAliveTimers(port: number): Promise<number> {
  const table = await readFile('/proc/net/tcp', 'utf8');
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state, , timer]) => {
      return address === local && state === '01' && timer?.startsWith('02:');
    }).length;
}
