import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import { API_KEY, AUTHORIZED } from '../support/gateway.ts';
import { parseRaw, rawAnswer, rawRequest, sendRaw } from '../support/raw-client.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';
import type { Script } from '../support/scripted-upstream.ts';
import { awaited } from '../support/until.ts';
import { openWire } from '../support/wire.ts';

const KEY = `Authorization: Bearer ${API_KEY}`;
const CAP_BYTES = 64 * 1024;
const MIB = 1024 * 1024;

const TOO_LARGE = problem(
  413,
  'body_too_large',
  'The request body is too large',
  `The request body must not be over ${CAP_BYTES} bytes.`,
);

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

describe('bodies through a proxied route', () => {
  const ok: Script = (_request, response) => void response.end('ok');
  let script = ok;
  const { gateway, upstream } = scriptedGateway(
    (...args) => script(...args),
    () => ({ GATEWAY_MAX_BODY_BYTES: String(CAP_BYTES) }),
  );
  afterEach(() => void (script = ok));

  /** By Node's own client, which changes nothing of a body. */
  async function ask(
    method: string,
    path: string,
    { body = [], headers = {} }: { body?: Buffer[]; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const request = httpRequest(gateway.url + path, {
      method,
      headers: { ...AUTHORIZED, 'x-request-id': 'r1', ...headers },
    });
    for (const chunk of body) request.write(chunk);
    request.end();
    const begun = awaited(`the answer to ${method} ${path}`, once(request, 'response'));
    const [answer] = (await begun) as [IncomingMessage];
    const chunks = awaited(`the whole answer to ${method} ${path}`, answer.toArray());
    const { statusCode: status = 0, headers: answered } = answer;
    return { status, headers: answered, body: Buffer.concat((await chunks) as Buffer[]) };
  }

  const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

  describe('toward the upstream', () => {
    it.each(['PUT', 'POST', 'DELETE', 'PATCH'])(
      'arrive with %s as they came, with a declared length and without',
      async (method) => {
        const path = method === 'PATCH' ? '/registry/x' : '/streams/x';
        const body = Buffer.concat([everyByte, randomBytes(CAP_BYTES - 256)]);
        const headers = { 'content-length': String(body.length) };
        expect((await ask(method, path, { body: [body], headers })).status).toBe(200);
        const chunks = [body.subarray(0, 1), body.subarray(1, 300), body.subarray(300)];
        const chunked = { 'transfer-encoding': 'chunked' };
        expect((await ask(method, path, { body: chunks, headers: chunked })).status).toBe(200);

        expect(upstream.seen.map((seen) => seen.body.equals(body))).toEqual([true, true]);
        for (const { headers: seen } of upstream.seen) {
          expect(seen['content-length']).toBe(String(body.length));
          expect(seen['transfer-encoding']).toBeUndefined();
        }
      },
    );

    it.each(['PUT', 'POST', 'DELETE'])(
      'may be empty with %s, chunked or not, and the connection stays open',
      async (method) => {
        const line = `${method} /streams/x HTTP/1.1\r\nHost: g\r\n${KEY}\r\n`;
        const last = `${method} /streams/last HTTP/1.1\r\nHost: g\r\nConnection: close\r\n${KEY}\r\n`;
        const answer = await sendRaw(
          gateway.port,
          [
            `${line}\r\n`,
            `${line}Content-Length: 0\r\n\r\n`,
            `${line}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
            `${last}\r\n`,
          ].join(''),
        );
        expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(4);
        expect(upstream.seen.map(({ body }) => body.length)).toEqual([0, 0, 0, 0]);
        expect(upstream.seen.map(({ headers }) => headers['content-length'])).toEqual([
          '0',
          '0',
          '0',
          '0',
        ]);
      },
    );

    it.each(['DELETE', 'PUT', 'POST'])(
      'are never read as a second request with a chunked %s',
      async (method) => {
        // Seen with the package alone: a chunked DELETE went out with "Content-Length: 0".
        const smuggled = 'DELETE /stolen HTTP/1.1\r\nHost: x\r\n\r\n';
        const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
        const headers = [KEY, 'Transfer-Encoding: chunked'];
        const answer = await rawAnswer(gateway.port, `${method} /streams/x`, headers, chunked);
        expect(answer.status).toBe(200);
        expect(
          upstream.seen.map(({ method: seen, target, body }) => [seen, target, String(body)]),
        ).toEqual([[method, '/x', smuggled]]);
      },
    );

    it('lose chunk extensions and trailers, which are of one hop', async () => {
      const chunked = '3;ext=1\r\nabc\r\n0\r\nX-Trailer: 1\r\nAuthorization: t\r\n\r\n';
      const headers = [KEY, 'Transfer-Encoding: chunked', 'Trailer: X-Trailer'];
      await rawAnswer(gateway.port, 'POST /streams/x', headers, chunked);
      expect(upstream.seen.map(({ body }) => String(body))).toEqual(['abc']);
      expect(JSON.stringify(upstream.seen[0]?.rawHeaders)).not.toMatch(/trailer/i);
    });

    it.each([
      [
        'a length and chunks',
        ['Content-Length: 3', 'Transfer-Encoding: chunked'],
        '3\r\nabc\r\n0\r\n\r\n',
      ],
      ['two lengths', ['Content-Length: 3', 'Content-Length: 4'], 'abcd'],
      ['the same length twice', ['Content-Length: 3', 'Content-Length: 3'], 'abc'],
      ['a length that is no number', ['Content-Length: +3'], 'abc'],
      ['a list of lengths', ['Content-Length: 3, 3'], 'abc'],
      ['chunks twice over', ['Transfer-Encoding: chunked, chunked'], '0\r\n\r\n'],
      ['chunks of no size', ['Transfer-Encoding: chunked'], 'zz\r\nabc\r\n0\r\n\r\n'],
      ['a bare line feed in a chunk size', ['Transfer-Encoding: chunked'], '3\nabc\r\n0\r\n\r\n'],
    ])('are refused with %s', async (_what, headers, body) => {
      const answer = await rawAnswer(gateway.port, 'POST /streams/x', [KEY, ...headers], body);
      expect(answer.status).toBe(400);
      expect(upstream.seen).toEqual([]);
    });

    it.each(['gzip', 'identity', 'xchunked', 'chunked, gzip'])(
      'are refused with Transfer-Encoding %s, and nothing behind them is read',
      async (coding) => {
        const raw = `POST /streams/x HTTP/1.1\r\nHost: g\r\n${KEY}\r\nTransfer-Encoding: ${coding}\r\n\r\n`;
        const next = `GET /streams/next HTTP/1.1\r\nHost: g\r\n${KEY}\r\n\r\n`;
        const answer = await sendRaw(gateway.port, raw + next);
        expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
        expect(upstream.seen).toEqual([]);
      },
    );

    it('are refused with a coding beneath the chunks, which nobody would undo', async () => {
      // Seen: the parser lets it pass, and the upstream would have got the bytes without the coding.
      const wire = await openWire(gateway.port);
      await wire.write(
        `POST /streams/x HTTP/1.1\r\nHost: g\r\n${KEY}\r\nX-Request-Id: r1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
      );
      expect(await wire.over()).toBe('end');
      const answer = parseRaw(wire.received);
      expect(answer.status).toBe(400);
      expect(answer.head).toContain('Connection: close');
      expect(JSON.parse(answer.body)).toEqual(
        problem(
          400,
          'invalid_body',
          'The request body is not valid',
          'The only Transfer-Encoding that is understood is "chunked".',
        ),
      );
      expect(upstream.seen).toEqual([]);
    });
  });

  describe('over the cap', () => {
    const over = CAP_BYTES + 1;

    it.each([
      ['POST', '/streams/x'],
      ['PUT', '/streams/x'],
      ['DELETE', '/streams/x'],
      ['PATCH', '/registry/x'],
    ])(
      'are refused by their declared length before a byte is read: %s %s',
      async (method, path) => {
        const wire = await openWire(gateway.port);
        await wire.write(
          `${method} ${path} HTTP/1.1\r\nHost: g\r\n${KEY}\r\nX-Request-Id: r1\r\nContent-Length: ${over}\r\n\r\n`,
        );
        const answer = parseRaw(await wire.until('}'));
        expect(answer.status).toBe(413);
        expect(JSON.parse(answer.body)).toEqual(TOO_LARGE);
        expect(answer.head).toContain('Connection: close');
        expect(upstream.seen).toEqual([]);
        wire.reset();
      },
    );

    it.each(['POST', 'DELETE'])(
      'are refused by counting as soon as they are, though the client never ends them: %s',
      async (method) => {
        const wire = await openWire(gateway.port);
        await wire.write(
          `${method} /streams/x HTTP/1.1\r\nHost: g\r\n${KEY}\r\nX-Request-Id: r1\r\nTransfer-Encoding: chunked\r\n\r\n`,
        );
        await wire.write(`${over.toString(16)}\r\n`);
        await wire.write(Buffer.alloc(over));
        const answer = parseRaw(await wire.until('}'));
        expect(answer.status).toBe(413);
        expect(JSON.parse(answer.body)).toEqual(TOO_LARGE);
        expect(upstream.seen).toEqual([]);
        wire.reset();
      },
    );

    it('are taken at the cap to the byte', async () => {
      const body = randomBytes(CAP_BYTES);
      for (const [name, value] of [
        ['content-length', String(CAP_BYTES)],
        ['transfer-encoding', 'chunked'],
      ] as const) {
        const headers = { [name]: value };
        expect((await ask('POST', '/streams/x', { body: [body], headers })).status).toBe(200);
      }
      expect(upstream.seen.map((seen) => seen.body.equals(body))).toEqual([true, true]);
    });

    it.each([401, 413, 404])(
      'give a client that reads nothing before it has sent all of 48 MiB its %i',
      async (status) => {
        // Closed at once, the connection would be reset with the answer still unread.
        const wire = await openWire(gateway.port);
        wire.socket.pause();
        const path = status === 404 ? '/nowhere' : '/streams/x';
        const credential = status === 401 ? 'Bearer wrong-key-0123456789' : `Bearer ${API_KEY}`;
        const bodyBytes = 48 * MIB;
        await wire.write(
          `POST ${path} HTTP/1.1\r\nHost: g\r\nAuthorization: ${credential}\r\nContent-Length: ${bodyBytes}\r\n\r\n`,
        );
        const block = Buffer.alloc(MIB);
        for (let sent = 0; sent < bodyBytes; sent += block.length) await wire.write(block);
        wire.socket.resume();

        expect(await wire.over()).toBe('end');
        const answer = parseRaw(wire.received);
        expect(answer.status).toBe(status);
        expect(JSON.parse(answer.body)).toMatchObject({ status });
        expect(upstream.seen).toEqual([]);
      },
    );
  });

  // A read with a body went another way than all other reads, and one with a slow client ended the process.
  describe('of GET and HEAD', () => {
    const PATHS = ['/streams/x', '/shapes/v1/shape', '/registry/x', '/health', '/api/spawn', '/no'];
    const FRAMINGS: [string, string][] = [
      ['Content-Length: 5', 'hello'],
      ['Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
      ['Transfer-Encoding: chunked', '0\r\n\r\n'],
    ];
    const CREDENTIALS = [[KEY], [], ['Authorization: Bearer wrong-key-0123456789']];
    const UNEXPECTED = problem(
      400,
      'unexpected_body',
      'A GET or HEAD request has a body',
      'A GET request must have no body; send it without Content-Length and Transfer-Encoding.',
    );

    it.each(PATHS)(
      'are refused on %s with any credential, and none of them is passed on',
      async (path) => {
        for (const [framing, body] of FRAMINGS) {
          for (const credential of CREDENTIALS) {
            const headers = [...credential, framing, 'X-Request-Id: r1'];
            const answer = await rawAnswer(gateway.port, `GET ${path}`, headers, body);
            expect(answer.status).toBe(400);
            expect(JSON.parse(answer.body)).toEqual(UNEXPECTED);
            const head = await rawAnswer(gateway.port, `HEAD ${path}`, headers, body);
            expect([head.status, head.body]).toEqual([400, '']);
          }
        }
        expect(upstream.seen).toEqual([]);
      },
    );

    it('are not asked for', async () => {
      const wire = await openWire(gateway.port);
      await wire.write(
        `GET /streams/x HTTP/1.1\r\nHost: g\r\n${KEY}\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`,
      );
      expect(await wire.until('}')).not.toContain('100 Continue');
      wire.reset();
    });

    it('pass where they are declared as empty', async () => {
      const answer = await rawAnswer(gateway.port, 'GET /streams/x', [KEY, 'Content-Length: 0']);
      expect(answer.status).toBe(200);
      expect(upstream.seen.map(({ headers }) => headers['content-length'])).toEqual([undefined]);
    });
  });

  describe('that wait for a 100 (Continue)', () => {
    const expecting = (line: string, length: number, key = KEY) =>
      `${line} HTTP/1.1\r\nHost: g\r\nConnection: close\r\n${key}\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;

    it.each([
      ['with a length', 'Content-Length: 5', 'hello'],
      ['in chunks', 'Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
    ])('get one, not from the upstream, once they are let in: %s', async (_, framing, body) => {
      const wire = await openWire(gateway.port);
      await wire.write(expecting('POST /streams/x', 5).replace('Content-Length: 5', framing));
      expect(await wire.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      await wire.write(body);
      expect(await wire.over()).toBe('end');
      expect(wire.received).toMatch(/\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
      expect(upstream.seen.map(({ body, headers }) => [String(body), headers.expect])).toEqual([
        ['hello', undefined],
      ]);
    });

    it.each([
      ['too large', 413, expecting('POST /streams/x', CAP_BYTES + 1)],
      ['without a credential', 401, expecting('POST /streams/x', 5, 'X-A: b')],
      ['of a malformed path', 400, expecting('POST /streams/../x', 5)],
      ['of no route', 404, expecting('POST /nowhere', 5)],
      [
        'of a refused fork',
        400,
        expecting('PUT /streams/x', 5, `${KEY}\r\nStream-Forked-From: /streams/../y`),
      ],
    ])('get none when the request is refused: %s', async (_what, status, raw) => {
      const answer = await sendRaw(gateway.port, raw);
      expect(answer).not.toContain('100 Continue');
      expect(parseRaw(answer).status).toBe(status);
      expect(upstream.seen).toEqual([]);
    });

    it('are read as any other with an expectation that nobody knows', async () => {
      const raw = expecting('POST /streams/x', 5).replace('100-continue', 'something');
      expect(parseRaw(await sendRaw(gateway.port, `${raw}hello`)).status).toBe(200);
      expect(upstream.seen.map(({ body }) => String(body))).toEqual(['hello']);
    });
  });

  describe('toward the client', () => {
    it.each([true, false])(
      'arrive as they came, 3 MiB and every byte (length declared: %s)',
      async (declared) => {
        const body = Buffer.concat([everyByte, randomBytes(3 * MIB)]);
        script = (_request, response) => {
          if (declared) response.setHeader('Content-Length', body.length);
          response.write(body);
          response.end();
        };
        const answer = await ask('GET', '/streams/x');
        expect(answer.body.equals(body)).toBe(true);
        expect(answer.headers['content-length']).toBe(declared ? String(body.length) : undefined);
      },
    );

    it('stay compressed, and say so', async () => {
      const packed = gzipSync('[{"seq":1}]');
      script = (_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' });
        response.end(packed);
      };
      const answer = await ask('GET', '/streams/x', { headers: { 'accept-encoding': 'gzip' } });
      expect(answer.headers['content-encoding']).toBe('gzip');
      expect(answer.body.equals(packed)).toBe(true);
      expect(String(gunzipSync(answer.body))).toBe('[{"seq":1}]');
    });

    it.each([
      200, 201, 202, 206, 300, 301, 302, 303, 307, 308, 400, 402, 404, 405, 409, 410, 412, 413, 418,
      429, 500, 502, 503, 599,
    ])('arrive with the status %i unchanged', async (status) => {
      const body = `{"upstream says":${status}}`;
      script = (_request, response) => {
        response.writeHead(status, { 'content-type': 'text/x-own', 'retry-after': '7' }).end(body);
      };
      const answer = await ask('POST', '/registry/x');
      expect([answer.status, String(answer.body)]).toEqual([status, body]);
      expect(answer.headers).toMatchObject({ 'content-type': 'text/x-own', 'retry-after': '7' });
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(upstream.seen).toHaveLength(1);
    });

    it.each([204, 304])(
      'are none with the status %i, and the connection stays open',
      async (status) => {
        script = (_request, response) => void response.writeHead(status, { etag: '"e"' }).end();
        const line = `GET /streams/x HTTP/1.1\r\nHost: g\r\n${KEY}\r\n`;
        const answer = await sendRaw(gateway.port, `${line}\r\n${line}Connection: close\r\n\r\n`);
        const heads = answer.split('\r\n\r\n').filter(Boolean);
        expect(heads).toHaveLength(2);
        for (const head of heads) {
          expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
          expect(head).toContain('etag: "e"');
          expect(head).not.toMatch(/transfer-encoding/i);
        }
      },
    );

    // A 204 must not say a length, and a client that believed that of a 304 waited for a body.
    it.each([
      [204, 'GET', '/streams/x', '5'],
      [204, 'PUT', '/streams/x', '0'],
      [204, 'DELETE', '/registry/x', '5'],
      [304, 'GET', '/streams/x', '1234'],
      [304, 'HEAD', '/streams/x', '1234'],
      [304, 'GET', '/registry/x', '0'],
    ])('have no length with the status %i of %s %s', async (status, method, path, length) => {
      script = (_request, response) =>
        void response.writeHead(status, { 'content-length': length, etag: '"e"' }).end();
      const line = `${method} ${path} HTTP/1.1\r\nHost: g\r\n${KEY}\r\nConnection: close\r\n\r\n`;
      const answer = await sendRaw(gateway.port, line);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\r\netag: "e"\r\n[^]*\r\n\r\n$`));
      expect(answer).not.toMatch(/content-length|transfer-encoding/i);
    });

    it('are none on HEAD, whose headers are those of GET', async () => {
      script = (_request, response) => void response.setHeader('Content-Length', 1234).end();
      const answer = await ask('HEAD', '/streams/x');
      expect([answer.status, answer.headers['content-length'], answer.body.length]).toEqual([
        200,
        '1234',
        0,
      ]);
      expect(upstream.seen.map(({ method }) => method)).toEqual(['HEAD']);
    });

    it('begin with their headers as soon as those are there', async () => {
      const opened = Promise.withResolvers<ServerResponse>();
      script = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        opened.resolve(response);
      };
      const answer = await fetch(`${gateway.url}/streams/x?live=sse`, { headers: AUTHORIZED });
      expect(answer.headers.get('content-type')).toBe('text/event-stream');
      const reader = answer.body?.getReader();
      for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
        (await opened.promise).write(event);
        expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(event);
      }
      (await opened.promise).end();
      expect((await reader?.read())?.done).toBe(true);
    });

    it('wait for a client that does not read, and are then whole', async () => {
      const block = randomBytes(MIB);
      const blocks = 96;
      let written = 0;
      script = (_request, response) => {
        const more = (): void => {
          while (written < blocks) {
            written++;
            if (!response.write(block)) {
              response.once('drain', more);
              return;
            }
          }
          response.end();
        };
        more();
      };
      const wire = await openWire(gateway.port);
      wire.socket.pause();
      await wire.write(rawRequest('GET /streams/x', [KEY]).replace('1.1', '1.0'));
      // Other requests are the clock: twenty in a row in which the upstream could not write more.
      for (let still = 0, before = -1; still < 20; still = written === before ? still + 1 : 0) {
        before = written;
        await fetch(`${gateway.url}/health`).then((answer) => answer.arrayBuffer());
      }
      // What the kernel holds of four socket buffers, and no more.
      expect(written).toBeLessThan(40);
      expect(written).toBeGreaterThan(0);

      wire.socket.removeAllListeners('data');
      let length = 0;
      wire.socket.setEncoding('latin1');
      const head = wire.received;
      wire.socket.on('data', (chunk: string) => (length += chunk.length));
      wire.socket.resume();
      expect(await wire.over()).toBe('end');
      expect(head).toBe('');
      expect(length).toBeGreaterThan(blocks * MIB);
      expect(length).toBeLessThan(blocks * MIB + 2_000);
    });

    it('are ended by the connection toward an HTTP/1.0 client', async () => {
      script = (_request, response) => {
        response.write('one,');
        response.end('two');
      };
      const answer = await sendRaw(gateway.port, `GET /streams/x HTTP/1.0\r\n${KEY}\r\n\r\n`);
      const { head, body, status } = parseRaw(answer);
      expect([status, body]).toEqual([200, 'one,two']);
      expect(head).not.toMatch(/transfer-encoding/i);
    });

    it('come in the order of requests that were pipelined, however the upstream is', async () => {
      const first = Promise.withResolvers<ServerResponse>();
      script = (request, response) => {
        if (request.url === '/1') first.resolve(response);
        else {
          response.end(`for ${request.url}`);
          if (request.url === '/3') void first.promise.then((parked) => parked.end('for /1'));
        }
      };
      const line = (n: number) => `GET /streams/${n} HTTP/1.1\r\nHost: g\r\n${KEY}\r\n`;
      const answer = await sendRaw(
        gateway.port,
        `${line(1)}\r\n${line(2)}\r\n${line(3)}Connection: close\r\n\r\n`,
      );
      expect(answer.match(/for \/\d/g)).toEqual(['for /1', 'for /2', 'for /3']);
      expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3);
    });
  });
});
