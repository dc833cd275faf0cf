import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { afterThisTest, forThisTest } from '../support/for-this-test.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { openSocket } from '../support/open-socket.ts';
import { rawRequest } from '../support/raw-client.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';

const KEY = `Authorization: ${AUTHORIZED.authorization}`;

describe('senders of a byte a second', () => {
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;

  beforeEach(async () => {
    upstream = forThisTest(await startScriptedUpstream((_request, response) => response.end()));
    gateway = forThisTest(
      await startTestGateway({
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_RUNTIME_INGRESS_URL: upstream.url,
      }),
    );
    const server = gateway.running.app.getHttpServer() as Server;
    // The real ones take a minute and more; how often they are looked at is the real thing.
    server.headersTimeout = 500;
    server.requestTimeout = 1_000;
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
    afterThisTest(() => socket.destroy());
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
