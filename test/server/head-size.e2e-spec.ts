import { describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/gateway.ts';
import { rawAnswer } from '../support/raw-client.ts';
import { logOf, scriptedGateway } from '../support/scripted-gateway.ts';
import { openWire } from '../support/wire.ts';

const KEY = `Authorization: ${AUTHORIZED.authorization}`;
const MAX_HEAD_BYTES = 32_768;
/** The most of an upstream's head. Node's parser counts names and values, and must stay below. */
const MAX_ANSWER_HEAD_BYTES = 65_535;

describe('the head of a request', () => {
  const { gateway, upstream } = scriptedGateway((request, response) => {
    response.end(String(request.url?.length));
  });

  /** Headers with which the request is so many bytes long, with `Host` and `Connection` of `rawRequest`. */
  function padded(target: string, bytes: number): string[] {
    const others = [
      target,
      'Host',
      'gateway.test',
      'Connection',
      'close',
      'Authorization',
      'X-Pad',
    ];
    const length = others.join('').length + AUTHORIZED.authorization.length;
    return [KEY, `X-Pad: ${'x'.repeat(bytes - length)}`];
  }

  // 330 ids in an `IN` were a head over Node's 16 KiB.
  it('may have 32 KiB', async () => {
    const target = '/streams/t/x?offset=-1';
    const answer = await rawAnswer(gateway.port, `GET ${target}`, padded(target, MAX_HEAD_BYTES));
    expect([answer.status, upstream.seen.length]).toEqual([200, 1]);
  });

  it('is refused by a problem beyond it, and logged', async () => {
    const target = '/streams/t/x';
    const headers = padded(target, MAX_HEAD_BYTES + 1).join('\r\n');
    const wire = await openWire(gateway.port);
    await wire.write(
      `GET ${target} HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n${headers}\r\n\r\n`,
    );
    await wire.over();
    const body = JSON.parse(wire.received.split('\r\n\r\n')[1] ?? '') as { requestId: string };
    expect(wire.received).toMatch(/^HTTP\/1\.1 431 [^]*\r\nCache-Control: no-store\r\n/);
    expect(body).toEqual({
      type: 'urn:agent-gateway:error:head_too_large',
      title: 'The head of the request is too large',
      status: 431,
      detail:
        'The request target and headers must not be over 32768 bytes together, and have 32769; send a shorter query, or fewer or shorter headers.',
      code: 'head_too_large',
      requestId: expect.any(String),
    });
    expect(logOf(gateway)).toEqual([
      expect.objectContaining({
        path: target,
        status: 431,
        code: 'head_too_large',
        requestId: body.requestId,
      }),
    ]);
    expect(upstream.seen).toEqual([]);
  });

  it('is refused for any credential and for none, on every route, with a body too', async () => {
    const long = `X-Long: ${'x'.repeat(40_000)}`;
    for (const line of ['GET /health', 'POST /api/spawn', 'PUT /streams/t/x', 'GET /none']) {
      for (const credential of [[KEY], []]) {
        const hasBody = !line.startsWith('GET');
        const headers = [long, ...credential, ...(hasBody ? ['Content-Length: 2'] : [])];
        const answer = await rawAnswer(gateway.port, line, headers, hasBody ? '{}' : '');
        expect([line, answer.status, JSON.parse(answer.body)]).toEqual([
          line,
          431,
          expect.objectContaining({ code: 'head_too_large' }),
        ]);
      }
    }
    expect(upstream.seen).toEqual([]);
  });

  it('leaves the connection to the next request', async () => {
    const wire = await openWire(gateway.port);
    await wire.write(
      `GET /health HTTP/1.1\r\nHost: g\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n` +
        'GET /health HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n',
    );
    await wire.over();
    expect(wire.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 431', 'HTTP/1.1 200']);
  });
});

describe('the head of an answer', () => {
  let bytes = 0;
  const { gateway } = scriptedGateway((_, response) => {
    const own = ['Content-Length', '0', 'Connection', 'keep-alive', 'electric-schema'].join('');
    response.sendDate = false;
    response.setHeader('Content-Length', '0').setHeader('Connection', 'keep-alive');
    response.setHeader('electric-schema', 's'.repeat(bytes - own.length - 'OK'.length));
    response.end();
  });
  const ROUTES = [
    'GET /shapes/v1/shape?table=t&offset=-1',
    'GET /streams/t/x?offset=-1',
    'PUT /streams/t/x',
    'POST /streams/t/x',
    'DELETE /streams/t/x',
    'GET /registry/deployments',
    'POST /registry/deployments',
  ];

  // The `electric-schema` of 250 columns was over Node's 16 KiB, and every read of the table 502.
  it.each(ROUTES)('may have nearly 64 KiB on %s', async (line) => {
    bytes = MAX_ANSWER_HEAD_BYTES;
    const { status, head } = await rawAnswer(gateway.port, line, [KEY]);
    expect(status).toBe(200);
    expect(/^electric-schema: (s+)\r?$/m.exec(head)?.[1]?.length).toBeGreaterThan(65_000);
  });

  it.each(ROUTES)('is named as the cause beyond it on %s', async (line) => {
    bytes = MAX_ANSWER_HEAD_BYTES + 1;
    const { status, body } = await rawAnswer(gateway.port, line, [KEY]);
    expect([status, JSON.parse(body)]).toEqual([
      502,
      expect.objectContaining({
        code: 'upstream_invalid_response',
        detail: expect.stringMatching(/ gave an answer whose head is over 65536 bytes\./),
      }),
    ]);
  });

  it('is named for a command, of which nothing is known', async () => {
    bytes = MAX_ANSWER_HEAD_BYTES + 1;
    const { status, body } = await rawAnswer(
      gateway.port,
      'POST /api/a/chat/a1/send',
      [KEY, 'Content-Length: 2'],
      '{}',
    );
    expect([status, JSON.parse(body)]).toEqual([
      502,
      expect.objectContaining({
        code: 'upstream_invalid_response',
        detail: expect.stringMatching(
          /^The runtime gave an answer whose head is over 65536 bytes; /,
        ),
      }),
    ]);
  });
});
