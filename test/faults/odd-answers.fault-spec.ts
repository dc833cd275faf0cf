import { get } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/credentials.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { startRawUpstream } from '../support/scripted-upstream.ts';

const LENGTH = 'Content-Length: 2';
const DATE = 'Date: Sun, 22 Nov 2026 02:38:55 GMT';
const EVERY_BYTE = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));

/** Response heads by what is odd about them. The body is always `hi`. */
const ODD_HEADS: Record<string, string[]> = {
  'every byte in a value': EVERY_BYTE.map((c) => `200 OK\r\nX-A: a${c}b\r\n${LENGTH}`),
  'every byte in a value, behind length and date': EVERY_BYTE.map(
    (c) => `200 OK\r\n${DATE}\r\n${LENGTH}\r\nX-A: a${c}b`,
  ),
  'every byte in a name': EVERY_BYTE.map((c) => `200 OK\r\nX${c}A: ab\r\n${LENGTH}`),
  'every byte in a reason': EVERY_BYTE.map((c) => `200 O${c}K\r\n${LENGTH}`),
  // Node takes one for UTF-8, and threw where nobody caught it: the gateway ended.
  'every byte in a Content-Disposition': EVERY_BYTE.map(
    (c) => `200 OK\r\n${LENGTH}\r\nContent-Disposition: a${c}b`,
  ),
  statuses: [199, 200, 201, 204, 205, 206, 299, 304, 399, 418, 499, 599, 600, 700, 999].map(
    (status) => `${status} X\r\n${LENGTH}`,
  ),
  framings: [
    'Content-Length: 02',
    'Content-Length: 2, 2',
    'Content-Length: 2\r\nContent-Length: 2',
    'Content-Length: 99999999999999999999',
    'Content-Length: -1',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip',
    `Transfer-Encoding: chunked\r\n${LENGTH}`,
  ].map((headers) => `200 OK\r\n${headers}`),
  'headers of a meaning': [
    'Connection: x-a\r\nX-A: b',
    'Date: x',
    'Expect: 100-continue',
    'Trailer: x',
    'Keep-Alive: timeout=0',
    'Set-Cookie: a\r\nSet-Cookie: b',
    '__proto__: x',
    'constructor: x',
    'X-A:',
    'Content-Type: text/event-stream',
  ].map((headers) => `200 OK\r\n${headers}\r\n${LENGTH}`),
};

describe('answers that no upstream should give', () => {
  let answer = Buffer.alloc(0);
  const upstream = forAllTests(() =>
    startRawUpstream((socket) => {
      // Its end is the body's where no length tells.
      socket.once('data', () => socket.end(answer));
    }),
  );
  const gateway = forAllTests(() =>
    startGatewayChild({
      env: { GATEWAY_HISTORY_URL: upstream.url, GATEWAY_RUNTIME_ADMIN_URL: upstream.url },
    }),
  );

  /** The status, or `broken` where the answer has no end. */
  function ask(path: string, headers: Record<string, string>): Promise<number | 'broken'> {
    return new Promise((resolve) => {
      const { port } = gateway;
      const request = get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
        response.on('error', () => resolve('broken'));
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.resume();
      });
      // Broken off so soon that its head is lost with it.
      request.on('error', () => resolve('broken'));
    });
  }

  describe.each([
    ['a read', '/streams/a?offset=-1'],
    ['the registry', '/registry/deployments'],
  ])('to %s', (_, path) => {
    it.each(Object.entries(ODD_HEADS))('are passed on or refused: %s', async (__, heads) => {
      for (const head of heads) {
        answer = Buffer.from(`HTTP/1.1 ${head}\r\n\r\nhi`, 'latin1');
        for (const connection of ['keep-alive', 'close']) {
          const status = await ask(path, { ...AUTHORIZED, connection });
          const own = Number(head.slice(0, 3));
          expect([head, [own, 502, 'broken'].includes(status)]).toEqual([head, true]);
        }
      }
      answer = Buffer.from(`HTTP/1.1 200 OK\r\n${LENGTH}\r\n\r\nhi`);
      expect(await ask(path, AUTHORIZED)).toBe(200);
    });
  });
});
