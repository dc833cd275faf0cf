import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Reader } from '../../src/proxy/reads/reader.ts';
import { problem } from '../support/ask-raw.ts';
import { afterThisTest, forAllTests, forThisTest } from '../support/for-this-test.ts';
import { API_KEY, AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { parseRaw, rawRequest, sendRaw } from '../support/raw-client.ts';
import { logOf, testGateway } from '../support/scripted-gateway.ts';
import { startRawUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';
import { standStill } from '../support/stand-still.ts';
import { startUnacceptingServer } from '../support/unaccepting-server.ts';
import { openWire, openWireThatTellsResets, Wire } from '../support/wire.ts';

const KEY = `Authorization: Bearer ${API_KEY}`;
/** Far above every deadline of these tests. Only a hang takes this long. */
const HANG_MS = 60_000;
/** Only for an upstream that takes no connection: a busy machine may need it for any. */
const CONNECT_TIMEOUT_MS = 300;
const RESPONSE_TIMEOUT_MS = 1_000;
const LIVE_TIMEOUT_MS = 1_600;
/** A live read that is silent for three quarters of its time is broken off. */
const SILENT_MS = 1_200;

const TITLES = {
  upstream_unreachable: 'An upstream could not be reached',
  upstream_timeout: 'An upstream did not answer in time',
  upstream_invalid_response: 'An upstream gave an unusable answer',
};
const LOST = 'The connection to the server behind this route was lost before it answered.';
const OVERSIZED = 'The server behind this route gave an answer whose head is over 65536 bytes.';
const UNUSABLE = 'The server behind this route gave an answer that cannot be used.';
const lateAfter = (timeoutMs: number): string =>
  `The server behind this route did not answer within ${timeoutMs} ms.`;
/** The detail of the error for a write that may have been made. */
const DOUBT: Record<string, string> = {
  POST:
    ' The append may have been made. With the same Producer-Id, Producer-Epoch and Producer-Seq it can be ' +
    'repeated safely; without them read the stream before you repeat it.',
  DELETE:
    ' The stream may have been deleted. A DELETE can be repeated safely: 404 says that it is gone.',
  PATCH: ' The change may have been made. Look with GET before you repeat it.',
};

const badGateway = (code: keyof typeof TITLES, detail: string): object =>
  problem(502, code, TITLES[code], detail, 'faults-1');

const UNSENT = {
  ...badGateway(
    'upstream_unreachable',
    'The server behind this route could not be reached, so nothing was sent; try again.',
  ),
  sent: false,
};
const UNREACHABLE = badGateway(
  'upstream_unreachable',
  'The server behind this route could not be reached; try again.',
);
const timedOut = (method: string, timeoutMs: number): object =>
  badGateway('upstream_timeout', lateAfter(timeoutMs) + (DOUBT[method] ?? ''));
const unusable = (method: string, detail = UNUSABLE): object =>
  badGateway('upstream_invalid_response', detail + (DOUBT[method] ?? ''));
const lost = (method: string): object =>
  DOUBT[method] === undefined
    ? UNREACHABLE
    : badGateway('upstream_unreachable', LOST + DOUBT[method]);

describe('an upstream that fails', () => {
  /** What the upstream does with a connection. */
  let play: (wire: Wire) => unknown = () => undefined;
  let connections = 0;
  const upstream = forAllTests(() =>
    startRawUpstream((socket) => {
      connections++;
      play(new Wire(socket));
    }),
  );
  const gateway = testGateway(() => settings(upstream.url));
  afterEach(() => {
    connections = 0;
    // Nothing that an upstream does is the gateway's own failure.
    expect(gateway.logLines.filter((line) => line.includes('internal_error'))).toEqual([]);
  });

  function settings(url: string): Record<string, string> {
    return {
      GATEWAY_HISTORY_URL: url,
      GATEWAY_SYNC_URL: url,
      GATEWAY_RUNTIME_ADMIN_URL: url,
      GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: String(RESPONSE_TIMEOUT_MS),
      GATEWAY_LIVE_TIMEOUT_MS: String(LIVE_TIMEOUT_MS),
      GATEWAY_MAX_BODY_BYTES: '100000000',
    };
  }

  async function ask(
    method = 'GET',
    { body = method === 'POST' ? 'x' : (undefined as string | undefined), of = gateway } = {},
  ) {
    const startedAtMs = performance.now();
    const answer = await fetch(`${of.url}/streams/x`, {
      method,
      body,
      headers: { ...AUTHORIZED, 'x-request-id': 'faults-1', origin: 'https://app.example' },
    });
    return {
      status: answer.status,
      headers: answer.headers,
      json: (await answer.json()) as unknown,
      tookMs: performance.now() - startedAtMs,
    };
  }

  /** Plays this answer to each request, then does that. */
  const answering =
    (bytes: string | Buffer, then: (wire: Wire) => unknown = () => undefined) =>
    async (wire: Wire): Promise<void> => {
      await wire.until('\r\n\r\n');
      await wire.write(bytes);
      then(wire);
    };
  const close = (wire: Wire): unknown => wire.socket.end();
  const reset = (wire: Wire): unknown => wire.reset();

  describe('before its answer', () => {
    it.each(['GET', 'POST', 'DELETE'])('and refuses connections: %s', async (method) => {
      const answer = await ask(method, { of: forThisTest(await startTestGateway()) });
      expect([answer.status, answer.json]).toEqual([502, UNSENT]);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const origin = method === 'GET' ? '*' : null;
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    });

    it('and has a name that nobody knows', async () => {
      const lost = await startTestGateway(settings('http://nobody.invalid:1/v1/stream'));
      const answer = await ask('GET', { of: forThisTest(lost) });
      expect([answer.status, answer.json]).toEqual([502, UNSENT]);
      expect(JSON.stringify(answer.json)).not.toContain('nobody');
    });

    it('and takes no connection in time', async () => {
      const server = forThisTest(await startUnacceptingServer());
      const deaf = forThisTest(
        await startTestGateway({
          ...settings(server.url),
          GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: String(CONNECT_TIMEOUT_MS),
        }),
      );
      for (const method of ['GET', 'POST']) {
        const answer = await ask(method, { of: deaf });
        expect([answer.status, answer.json]).toEqual([502, UNSENT]);
        expect(answer.tookMs).toBeGreaterThan(CONNECT_TIMEOUT_MS - 20);
        expect(answer.tookMs).toBeLessThan(HANG_MS);
      }
      // Of a read it was "Error", with neither message nor code.
      expect(logOf(deaf)[0]?.['err']).toMatchObject({
        code: 'ETIMEDOUT',
        message: `no connection within ${CONNECT_TIMEOUT_MS} ms`,
      });
    });

    // A write waited for the whole time for an answer.
    it('and takes a connection, but not the TLS handshake', async () => {
      const deaf = forThisTest(
        await startTestGateway({
          ...settings(upstream.url.replace('http:', 'https:')),
          GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: String(CONNECT_TIMEOUT_MS),
        }),
      );
      play = () => undefined;
      for (const method of ['GET', 'POST']) {
        const answer = await ask(method, { of: deaf });
        expect([answer.status, answer.json]).toEqual([502, UNSENT]);
        expect(logOf(deaf).findLast(({ err }) => err)?.['err']).toMatchObject({
          message: `no connection within ${CONNECT_TIMEOUT_MS} ms`,
        });
      }
      expect(logOf(deaf).filter(({ err }) => err)).toHaveLength(2);
    });

    // A read was told that nothing answered in time, as if the upstream had it.
    it('and takes no connection within the time for its answer', async () => {
      const server = forThisTest(await startUnacceptingServer());
      const deaf = forThisTest(
        await startTestGateway({
          ...settings(server.url),
          GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS: '60000',
        }),
      );
      for (const method of ['GET', 'POST']) {
        const answer = await ask(method, { of: deaf });
        expect([answer.status, answer.json]).toEqual([502, UNSENT]);
      }
      const causes = logOf(deaf).flatMap(({ err }) => (err ? [err] : []));
      const cause = {
        code: 'ETIMEDOUT',
        message: `no connection within ${RESPONSE_TIMEOUT_MS} ms`,
      };
      expect(causes).toMatchObject([cause, cause]);
    });

    // It was blamed on the upstream, as upstream_invalid_response at level warn; thrown behind the head of an answer it
    // ended the process.
    it.each([
      ['head', [500, 'internal_error']],
      ['body', [200, undefined]],
    ] as const)('is not blamed for a fault of our own at its %s', async (at, expected) => {
      const own = forThisTest(await startTestGateway(settings(upstream.url)));
      const fail = (): void => {
        const fault = jest.spyOn(Reader.prototype, 'wake').mockImplementationOnce(() => {
          throw new Error('a fault of our own');
        });
        afterThisTest(() => fault.mockRestore());
      };
      if (at === 'head') fail();
      play = async (wire) => {
        await wire.until('\r\n\r\n');
        await wire.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
        if (at === 'body') await answerArrived.promise.then(fail);
        await wire.write('hello');
      };
      const answerArrived = Promise.withResolvers<void>();
      const answer = await fetch(`${own.url}/streams/x`, { headers: AUTHORIZED });
      answerArrived.resolve();
      const body = await answer.json().catch(() => ({}));
      expect([answer.status, (body as { code?: string }).code]).toEqual(expected);
      const lines = logOf(own);
      expect(lines.find(({ level }) => level === 'error')).toMatchObject({
        code: 'internal_error',
        err: { message: 'a fault of our own', stack: expect.stringContaining('Reader') },
      });
      expect(lines.filter(({ level }) => level === 'warn')).toEqual([]);
    });

    it.each([
      ['closes at once', close],
      ['resets at once', reset],
    ])('and %s', async (_what, then) => {
      play = then;
      const answer = await ask();
      expect(answer.status).toBe(502);
      // A reset can arrive before the connection counts as open.
      expect([UNREACHABLE, UNSENT]).toContainEqual(answer.json);
    });

    it.each([
      ['closes', close],
      ['resets', reset],
    ])('and %s once it has the request', async (_what, then) => {
      play = async (wire) => {
        await wire.until('\r\n\r\n');
        then(wire);
      };
      for (const method of ['GET', 'POST']) {
        const answer = await ask(method);
        expect([answer.status, answer.json]).toEqual([502, lost(method)]);
      }
      // A fresh connection is no stale one: nothing is sent twice.
      expect(connections).toBe(2);
    });

    // Every read had the deadline of live ones: a catch-up at a silent store took two minutes to its 502.
    it.each([
      ['GET', '/streams/x', RESPONSE_TIMEOUT_MS],
      ['HEAD', '/streams/x?offset=-1', RESPONSE_TIMEOUT_MS],
      ['GET', '/shapes/x?live=false', RESPONSE_TIMEOUT_MS],
      ['GET', '/streams/x?offset=1&live=long-poll', SILENT_MS],
      ['GET', '/streams/x?offset=1&live=sse', SILENT_MS],
      ['HEAD', '/streams/x?live=long-poll', SILENT_MS],
      ['GET', '/shapes/x?live=true', SILENT_MS],
      ['POST', '/streams/x', RESPONSE_TIMEOUT_MS],
      ['DELETE', '/streams/x', RESPONSE_TIMEOUT_MS],
      ['GET', '/registry/x', RESPONSE_TIMEOUT_MS],
      ['PATCH', '/registry/x', RESPONSE_TIMEOUT_MS],
    ])('and is silent on %s %s', async (method, path, timeoutMs) => {
      const closed = Promise.withResolvers<void>();
      play = (wire) => void wire.ended.then(() => closed.resolve());
      const startedAtMs = performance.now();
      const raw = await sendRaw(
        gateway.port,
        rawRequest(`${method} ${path}`, [KEY, 'X-Request-Id: faults-1']),
      );
      const tookMs = performance.now() - startedAtMs;
      const answer = parseRaw(raw);
      expect(answer.status).toBe(502);
      if (method !== 'HEAD') {
        expect(JSON.parse(answer.body)).toEqual(timedOut(method, timeoutMs));
      }
      expect(tookMs).toBeGreaterThan(timeoutMs - 20);
      expect(tookMs).toBeLessThan(HANG_MS);
      await closed.promise;
    });

    it('and takes too long over its headers', async () => {
      const closed = Promise.withResolvers<void>();
      play = (wire) => {
        void wire.ended.then(() => closed.resolve());
        void answering('HTTP/1.1 200 OK\r\nX-Slow: ')(wire);
      };
      const answer = await ask('POST');
      expect([answer.status, answer.json]).toEqual([502, timedOut('POST', RESPONSE_TIMEOUT_MS)]);
      await closed.promise;
    });

    it.each([
      ['headers that are cut by a close', 'HTTP/1.1 200 OK\r\nContent-Le', close],
      ['headers that are cut by a reset', 'HTTP/1.1 200 OK\r\nContent-Le', reset],
      ['a part of a status line', 'HTT', close],
      ['something else than HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', undefined],
      ['zeros', Buffer.alloc(64), undefined],
      ["another protocol's status line", 'ICY 200 OK\r\n\r\n', undefined],
      ['a status of four digits', 'HTTP/1.1 1000 X\r\n\r\n', undefined],
      ['a status of two digits', 'HTTP/1.1 99 X\r\n\r\n', undefined],
      ['a status below 100', 'HTTP/1.1 042 X\r\nContent-Length: 0\r\n\r\n', undefined],
      ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n', undefined],
      ['a space before a colon', 'HTTP/1.1 200 OK\r\nX : x\r\n\r\n', undefined],
      ['a control character in a header', 'HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n', undefined],
      [
        'lengths that differ',
        'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
        undefined,
      ],
      [
        'a length and chunks',
        'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
        undefined,
      ],
      ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n', undefined],
      [
        'a coding that nobody undoes',
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nxyz',
        undefined,
      ],
      ['100 kB of headers', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`, undefined],
      ['forty thousand headers', `HTTP/1.1 200 OK\r\n${'X: x\r\n'.repeat(40_000)}\r\n`, undefined],
      [
        'a switch to another protocol',
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
        undefined,
      ],
      ['a switch that names no protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', undefined],
    ])('and gives %s', async (what, bytes, then) => {
      const closed = Promise.withResolvers<void>();
      play = (wire) => {
        void wire.ended.then(() => closed.resolve());
        void answering(bytes, then)(wire);
      };
      const isTooLong = what.endsWith(' headers');
      for (const method of ['GET', 'POST']) {
        const answer = await ask(method);
        expect([answer.status, answer.json]).toEqual([
          502,
          unusable(method, isTooLong ? OVERSIZED : UNUSABLE),
        ]);
      }
      await closed.promise;
    });

    it.each([
      // The 100 nobody asked for (RFC 9110 §15.2: to be ignored).
      ['GET /streams/x', ['100 Continue', '102 Processing', '103 Early Hints']],
      ['DELETE /streams/x', ['100 Continue', '102 Processing', '103 Early Hints']],
    ])('does not have interim answers to %s for the last one', async (line, interim) => {
      play = answering(
        [...interim, '200 OK\r\nConnection: close\r\nContent-Length: 2']
          .map((head) => `HTTP/1.1 ${head}\r\nLink: </x>\r\n\r\n`)
          .join('')
          .concat('{}'),
      );
      const raw = parseRaw(await sendRaw(gateway.port, rawRequest(line, [KEY])));
      expect([raw.status, raw.body]).toEqual([200, '{}']);
      expect(raw.head.match(/Link/gi)).toHaveLength(1);
    });

    it('has its time to answer from when it has the whole of a slow body', async () => {
      // Seen: the time ran from the start, and what was left of it was all that the upstream had.
      play = async (wire) => {
        await wire.until('last');
        await sleep(RESPONSE_TIMEOUT_MS * 0.5);
        await wire.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}');
      };
      const wire = await openWire(gateway.port);
      await wire.write(rawRequest('POST /streams/x', [KEY, 'Content-Length: 9'], 'first'));
      await sleep(RESPONSE_TIMEOUT_MS * 1.9);
      await wire.write('last');
      expect(await wire.ended).toBe('end');
      expect(parseRaw(wire.received)).toMatchObject({ status: 200, body: '{}' });
    });

    // Its time was over before its answer was read.
    it('has its answer passed on that came while the gateway stood still', async () => {
      play = async (wire) => {
        await wire.until('\r\n\r\n');
        void wire.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}');
        standStill(1.5 * RESPONSE_TIMEOUT_MS);
      };
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status, json } = await ask(method);
        expect([method, status, json]).toEqual([method, 200, {}]);
      }
    });

    it('and does not read the body that it is sent', async () => {
      play = (wire) => wire.socket.pause();
      const answer = await ask('POST', { body: 'x'.repeat(50_000_000) });
      expect([answer.status, answer.json]).toEqual([502, timedOut('POST', RESPONSE_TIMEOUT_MS)]);
    });

    it('and goes while a client is still sending: the client sees the 502', async () => {
      // Seen: the body's pipe, torn down late, paused the client, which then hung for two seconds.
      play = async (wire) => {
        await wire.until('\r\n\r\n');
        wire.reset();
      };
      const wire = await openWire(gateway.port);
      wire.socket.pause();
      const length = 40_000_000;
      await wire.write(
        rawRequest('POST /streams/x', [KEY, 'X-Request-Id: faults-1', `Content-Length: ${length}`]),
      );
      const startedAtMs = performance.now();
      const block = Buffer.alloc(1_000_000);
      for (let sent = 0; sent < length; sent += block.length) await wire.write(block);
      wire.socket.resume();
      expect(await wire.ended).toBe('end');
      expect(performance.now() - startedAtMs).toBeLessThan(HANG_MS);
      const { status, body } = parseRaw(wire.received);
      expect([status, JSON.parse(body)]).toEqual([502, lost('POST')]);
    });
  });

  describe('and answers before it has read the body', () => {
    it('gets its answer to the client, whose next request goes on a connection without half a body', async () => {
      play = async (wire) => {
        await wire.until('\r\n\r\n');
        const isNext = wire.received.startsWith('PUT /y');
        const body = isNext ? 'second' : '{}';
        const status = isNext ? '200 OK' : '409 Conflict';
        const end = isNext ? 'Connection: close\r\n' : '';
        await wire.write(
          `HTTP/1.1 ${status}\r\n${end}Content-Length: ${body.length}\r\n\r\n${body}`,
        );
      };
      const wire = await openWire(gateway.port);
      await wire.write(
        `POST /streams/x HTTP/1.1\r\nHost: g\r\n${KEY}\r\nContent-Length: 8\r\n\r\nfour`,
      );
      await wire.until('\r\n\r\n{}');
      expect(wire.received).toContain('HTTP/1.1 409 Conflict');
      await wire.write(
        `restPUT /streams/y HTTP/1.1\r\nHost: g\r\n${KEY}\r\nContent-Length: 0\r\n\r\n`,
      );
      await wire.until('second');
      expect(connections).toBe(2);
      wire.reset();
    });

    it('and closes: the rest of the body does not stop the next request', async () => {
      play = async (wire) => {
        await wire.until('\r\n\r\n');
        await wire.write(
          'HTTP/1.1 409 Conflict\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
        );
        wire.socket.end();
      };
      const wire = await openWire(gateway.port);
      const length = 500_000;
      await wire.write(
        `POST /streams/x HTTP/1.1\r\nHost: g\r\n${KEY}\r\nContent-Length: ${length}\r\n\r\n`,
      );
      await wire.until('\r\n\r\n{}');
      await wire.write(Buffer.alloc(length));
      await wire.write('GET /health HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n');
      expect(await wire.ended).toBe('end');
      expect(wire.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 409', 'HTTP/1.1 200']);
    });
  });

  describe('in the middle of its body', () => {
    const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n';
    const LENGTH = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello';
    const CLOSE = 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello';

    describe.each(['1.1', '1.0'])('breaks the answer of an HTTP/%s client off', (version) => {
      it.each([
        ['chunks end with a close', CHUNKED, close],
        ['chunks end with a reset', CHUNKED, reset],
        ['chunks turn to garbage', `${CHUNKED}zzz\r\n`, undefined],
        ['a length is not reached at the close', LENGTH, close],
        ['a length is not reached at the reset', LENGTH, reset],
        ['a body without any length is reset', CLOSE, reset],
      ])('when %s', async (_what, bytes, then) => {
        // All in one packet, and with the answer's beginning through before the fault.
        for (const isSplit of [false, true]) {
          const broken = Promise.withResolvers<Wire>();
          const headEnd = bytes.indexOf('\r\n\r\n') + 4;
          play = async (wire) => {
            await wire.until('\r\n\r\n');
            if (isSplit) {
              await wire.write(bytes.slice(0, headEnd));
              await client.until('\r\n\r\n');
              await wire.write(bytes.slice(headEnd));
              if (!bytes.includes('zzz')) await client.until('hello');
              then?.(wire);
            } else {
              wire.socket.write(bytes);
              if (then === close) close(wire);
              else if (then === reset) await client.until('hello').then(() => reset(wire));
            }
            broken.resolve(wire);
          };
          const client = await openWireThatTellsResets(gateway.port);
          await client.write(`GET /streams/x HTTP/${version}\r\nHost: g\r\n${KEY}\r\n\r\n`);
          const ending = await client.ended;
          await broken.promise;

          expect(client.received === '' || client.received.startsWith('HTTP/1.1 200 OK')).toBe(
            true,
          );
          expect(client.received).not.toMatch(/\r\n0\r\n\r\n$/);
          // Where only the close ends a body, nothing less than a reset tells that it is cut.
          const isEndedByClose = version === '1.0' && !/^content-length/im.test(client.received);
          if (isEndedByClose) expect(ending).toBe('reset');
        }
      });

      it('and not when a body without any length ends with a close', async () => {
        play = answering(CLOSE, close);
        const raw = await sendRaw(
          gateway.port,
          `GET /streams/x HTTP/${version}\r\nHost: g\r\nConnection: close\r\n${KEY}\r\n\r\n`,
        );
        expect(parseRaw(raw).body).toBe(version === '1.0' ? 'hello' : '5\r\nhello\r\n0\r\n\r\n');
      });
    });

    // Head, body and fault in one turn of the event loop: what was there went out with its length, as if it were whole.
    it.each([
      ['a body', CHUNKED],
      [
        'an event stream',
        CHUNKED.replace('\r\n\r\n', '\r\nContent-Type: text/event-stream\r\n\r\n'),
      ],
    ])('breaks off what came in one packet with its fault: %s', async (_what, begun) => {
      play = answering(`${begun}zzz\r\n`);
      const answer = fetch(`${gateway.url}/streams/x`, { headers: AUTHORIZED });
      await expect(answer.then((whole) => whole.text())).rejects.toThrow();
    });
  });
});

describe('the connections to an upstream', () => {
  it('are kept: 200 requests one after the other need one for reads and one for writes', async () => {
    const accepted = new Set<Socket>();
    const upstream = forThisTest(
      await startScriptedUpstream((request, response) => {
        accepted.add(request.socket);
        response.end('ok');
      }),
    );
    const gateway = forThisTest(await startTestGateway({ GATEWAY_HISTORY_URL: upstream.url }));
    for (let n = 0; n < 200; n++) {
      const method = n % 4 === 3 ? 'POST' : 'GET';
      const answer = await fetch(`${gateway.url}/streams/x`, { method, headers: AUTHORIZED });
      expect(await answer.text()).toBe('ok');
    }
    expect(accepted.size).toBe(2);
  });

  it('are all given back once the gateway stops', async () => {
    const upstream = forThisTest(
      await startScriptedUpstream((_request, response) => response.end('ok')),
    );
    const gateway = await startTestGateway({ GATEWAY_HISTORY_URL: upstream.url });
    await fetch(`${gateway.url}/streams/x`, { headers: AUTHORIZED }).then((answer) =>
      answer.text(),
    );
    const [socket] = upstream.openSockets;
    const closed = once(socket as Socket, 'close');
    await gateway.stop();
    await closed;
    expect(upstream.openSockets.size).toBe(0);
  });

  describe('that the upstream closes when they are used again', () => {
    let gateway: TestGateway;
    /** Requests as they came, with the number of their connection. */
    let seen: [connection: number, line: string][] = [];
    let how: (wire: Wire) => unknown = () => undefined;
    let connections = 0;
    const upstream = forAllTests(() =>
      startRawUpstream((socket) => {
        void serve(new Wire(socket), ++connections).catch(() => undefined);
      }),
    );
    beforeEach(async () => {
      seen = [];
      gateway = forThisTest(await startTestGateway({ GATEWAY_HISTORY_URL: upstream.url }));
    });

    /** Answers the first request of a connection, and breaks it off at the second. */
    async function serve(wire: Wire, connection: number): Promise<void> {
      await wire.until('\r\n\r\n');
      seen.push([connection, wire.received.split(' HTTP')[0] ?? '']);
      await wire.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      wire.received = '';
      await wire.until('\r\n\r\n');
      seen.push([connection, wire.received.split(' HTTP')[0] ?? '']);
      how(wire);
    }

    const ask = async (method: string, body?: string) => {
      const answer = await fetch(`${gateway.url}/streams/x`, { method, body, headers: AUTHORIZED });
      await answer.arrayBuffer();
      return answer.status;
    };

    it.each([
      ['GET', (wire: Wire) => wire.socket.destroy()],
      ['GET', (wire: Wire) => wire.reset()],
      ['HEAD', (wire: Wire) => wire.reset()],
      ['DELETE', (wire: Wire) => wire.reset()],
    ])('are replaced for a %s without a body, once', async (method, breakOff) => {
      how = breakOff;
      const before = method === 'DELETE' ? method : 'GET';
      expect(await ask(before)).toBe(200);
      expect(await ask(method)).toBe(200);
      const [[first]] = seen as [[number, string]];
      expect(seen.slice(1)).toEqual([
        [first, `${method} /x`],
        [first + 1, `${method} /x`],
      ]);
    });

    it.each([
      ['POST', undefined],
      ['POST', 'body'],
      ['PUT', 'body'],
    ])('fail a %s (body: %s), which may have been acted on', async (method, body) => {
      how = (wire) => wire.reset();
      expect(await ask('DELETE')).toBe(200);
      expect(await ask(method, body)).toBe(502);
      expect(seen.map(([, line]) => line)).toEqual(['DELETE /x', `${method} /x`]);
    });

    it('fail a GET whose answer had begun', async () => {
      how = async (wire) => {
        await wire.write('HTTP/1.1 200 OK\r\nCont');
        wire.reset();
      };
      expect(await ask('GET')).toBe(200);
      expect(await ask('GET')).toBe(502);
      expect(seen).toHaveLength(2);
    });
  });

  it('are let go before the upstream closes them, as its Keep-Alive tells', async () => {
    const closed = Promise.withResolvers<void>();
    const bytes = 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=2\r\nContent-Length: 2\r\n\r\nok';
    const upstream = forThisTest(
      await startRawUpstream((socket) => {
        const wire = new Wire(socket);
        void wire.ended.then(() => closed.resolve());
        void wire.until('\r\n\r\n').then(() => wire.write(bytes));
      }),
    );
    const gateway = forThisTest(await startTestGateway({ GATEWAY_HISTORY_URL: upstream.url }));
    const answer = await fetch(`${gateway.url}/streams/x`, { headers: AUTHORIZED });
    expect(await answer.text()).toBe('ok');
    await closed.promise;
  });
});
