import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { ACCEPTED } from '../support/runtime.ts';
import { scriptedGateway, testGateway } from '../support/scripted-gateway.ts';
import { startRawUpstream } from '../support/scripted-upstream.ts';

const BUDGET_MS = 1_500;
const UNUSABLE =
  'The runtime gave an answer that cannot be used; nothing is known of the command. ' +
  'With an Idempotency-Key it can be repeated safely.';
const LOST =
  'The connection to the runtime was lost before it answered; nothing is known of the command. ' +
  'With an Idempotency-Key it can be repeated safely.';

function post(
  gateway: TestGateway,
  path = '/api/a/chat/a1/send',
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    body: '{"verb":"pause"}',
    headers: { ...AUTHORIZED, 'x-request-id': 'r1', ...headers },
  });
}

async function expectProblem(
  response: Response,
  status: number,
  ...[code, title, detail]: [string, string, string]
): Promise<void> {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toEqual(problem(status, code, title, detail));
  expect(response.status).toBe(status);
}

const expectInvalid = (response: Response, detail = UNUSABLE): Promise<void> =>
  expectProblem(
    response,
    502,
    'upstream_invalid_response',
    'An upstream gave an unusable answer',
    detail,
  );
const expectLost = (response: Response): Promise<void> =>
  expectProblem(response, 502, 'upstream_unreachable', 'An upstream could not be reached', LOST);
const expectTimeout = (response: Response): Promise<void> =>
  expectProblem(
    response,
    502,
    'upstream_timeout',
    'An upstream did not answer in time',
    `The runtime did not answer within ${BUDGET_MS} ms; nothing is known of the command. ` +
      'With an Idempotency-Key it can be repeated safely.',
  );

describe('a whole answer of the runtime', () => {
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const { gateway, upstream: runtime } = scriptedGateway(
    (request, response) => answer(request, response),
    (upstreamUrl) => ({
      GATEWAY_RUNTIME_INGRESS_URL: `${upstreamUrl}/base/path/`,
      GATEWAY_RUNTIME_INGRESS_TOKEN: 'runtime-credential',
      GATEWAY_RUNTIME_KEY_TEMPLATE: '{tenant}/{type} {id}',
    }),
  );

  /** Answers so, and expects that a command with or without a key is sent once. */
  async function answersWith(
    status: number,
    body: string,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    answer = (_request, response) =>
      response.writeHead(status, { 'x-restate-error-source': 'ingress', ...headers }).end(body);
    const keyed = await post(gateway, '/api/a/chat/a1/control', { 'idempotency-key': 'k1' });
    await keyed.arrayBuffer();
    const unkeyed = await post(gateway);
    expect(runtime.seen).toHaveLength(2);
    expect(keyed.status).toBe(unkeyed.status);
    return unkeyed;
  }

  it('is asked for with the documented headers only, below its base path', async () => {
    answer = (_request, response) => response.writeHead(202).end(ACCEPTED);
    const headers = { 'content-type': 'text/x', 'x-custom': 'y', cookie: 'a=b' };
    expect((await post(gateway, '/api/a/chat/a:1@~x/send?x=y', headers)).status).toBe(202);

    expect(runtime.seen).toHaveLength(1);
    expect(runtime.seen[0]).toEqual({
      method: 'POST',
      target: '/base/path/chat/default%2Fchat%20a%3A1%40~x/wake/send',
      headers: {
        host: `127.0.0.1:${runtime.port}`,
        connection: 'keep-alive',
        'content-type': 'text/x',
        'x-entity-url': '/t/default/a/chat/a:1@~x',
        'x-entity-stream': '/t/default/agents/chat/a:1@~x/timeline',
        'x-request-id': 'r1',
        authorization: 'Bearer runtime-credential',
        'content-length': '16',
      },
      rawHeaders: expect.any(Array),
      body: Buffer.from('{"verb":"pause"}'),
    });
    expect(runtime.seen[0]?.rawHeaders).toHaveLength(16);
  });

  it.each<[status: number, body: string, headers: Record<string, string>]>([
    [401, '{"message":"wrong token runtime-credential"}', {}],
    [403, '', {}],
    [500, '{"message":"panicked at 10.1.2.3:8080"}', {}],
    [200, '', {}],
    [202, '<html>', {}],
    [202, '{"invocationId":"other","status":"Accepted"}', {}],
    [202, '{"status":"Accepted"}', {}],
    [202, 'null', {}],
    [204, '', {}],
    // A redirection is not followed.
    [307, ACCEPTED, { location: '/elsewhere' }],
  ])('of %d %j with %j is 502 upstream_invalid_response', async (status, body, headers) => {
    await expectInvalid(await answersWith(status, body, headers));
  });

  it.each<[string, string, Record<string, string>, string]>([
    ['is longer than a mebibyte', `${ACCEPTED}${' '.repeat(1_100_000)}`, {}, UNUSABLE],
    [
      'has a head over 64 KiB',
      ACCEPTED,
      { 'x-long': 'x'.repeat(70_000) },
      UNUSABLE.replace('that cannot be used', 'whose head is over 65536 bytes'),
    ],
  ])('that %s is 502 upstream_invalid_response', async (_, body, headers, detail) => {
    await expectInvalid(await answersWith(202, body, headers), detail);
  });

  const rejected = (message: string): [number, string, string, string] => [
    400,
    'runtime_rejected',
    'The runtime rejected the command',
    `The runtime rejected the command: ${message}`,
  ];
  it.each<[status: number, message: string, told: [number, string, string, string]]>([
    [400, 'input validation error: no "kind"', rejected('input validation error: no "kind"')],
    [415, 'unsupported media type', rejected('unsupported media type')],
    [405, 'method not allowed', rejected('method not allowed')],
    [
      404,
      'service not found',
      [
        404,
        'entity_type_not_registered',
        'The entity type is not registered',
        'The runtime knows no such entity type, or not this command of it; register its deployment first.',
      ],
    ],
    [
      413,
      '',
      [
        413,
        'body_too_large',
        'The request body is too large',
        "The body is over the runtime's own limit.",
      ],
    ],
  ])('of %d %j is %j', async (status, message, told) => {
    const body = JSON.stringify({ code: status, message, source: 'ingress' });
    await expectProblem(await answersWith(status, body), ...told);
  });

  it.each([
    [{ 'retry-after': '17' }, '17'],
    [{ 'retry-after': 'Fri, 31 Dec 2027 23:59:59 GMT' }, 'Fri, 31 Dec 2027 23:59:59 GMT'],
    [{}, '1'],
  ])('of 429 with %j is 429 rate_limited with Retry-After: %s', async (headers, retryAfter) => {
    const response = await answersWith(429, '', headers as Record<string, string>);
    expect(response.headers.get('retry-after')).toBe(retryAfter);
    await expectProblem(
      response,
      429,
      'rate_limited',
      'Too many requests',
      'The runtime is overloaded; try again later.',
    );
  });

  it('of 202 counts after an interim 103', async () => {
    answer = (_request, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(202).end(ACCEPTED);
    };
    expect((await post(gateway)).status).toBe(202);
  });

  it('reaches the client of a command that was under way when the gateway began to close', async () => {
    const closing = await startTestGateway({ GATEWAY_RUNTIME_INGRESS_URL: runtime.url });
    const arrived = Promise.withResolvers<ServerResponse>();
    answer = (_request, response) => arrived.resolve(response);
    const command = post(closing, '/api/a/chat/a1/send', { connection: 'close' });
    const response = await arrived.promise;
    // The connections to the runtime were once destroyed first of all.
    const closed = closing.running.close();
    await new Promise(setImmediate);
    response.writeHead(202).end(ACCEPTED);

    expect((await command).status).toBe(202);
    await closed;
  });
});

describe('a connection that misbehaves', () => {
  let requests: number;
  let behave: (socket: Socket) => void;
  const runtime = forAllTests(() =>
    startRawUpstream((socket) => {
      socket.on('data', (chunk: Buffer) => {
        if (chunk.includes('POST ')) requests += 1;
        behave(socket);
      });
    }),
  );
  const gateway = testGateway(() => ({
    GATEWAY_RUNTIME_INGRESS_URL: runtime.url,
    GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS: String(BUDGET_MS),
  }));

  /** Sends a command without key over it, and expects that it is sent once. */
  async function sendOver(behaviour: (socket: Socket) => void): Promise<Response> {
    requests = 0;
    behave = behaviour;
    const response = await post(gateway);
    expect(requests).toBe(1);
    return response;
  }

  it.each<[string, (socket: Socket) => void]>([
    ['closes', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ])('and %s before an answer is 502 upstream_unreachable', async (_, behaviour) => {
    await expectLost(await sendOver(behaviour));
  });

  it.each([
    ['garbage', 'no HTTP at all\r\n\r\n'],
    ['an answer cut in its status line', 'HTTP/1.1 20'],
    ['an answer cut in its headers', 'HTTP/1.1 202 Accepted\r\nContent-Le'],
    ['a body cut short', `HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\n${ACCEPTED}`],
    [
      'a body cut short on a closing connection',
      `HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 100\r\n\r\n${ACCEPTED}`,
    ],
    ['a chunk cut short', 'HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"inv'],
    [
      'chunks without an end',
      `HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n2c\r\n${ACCEPTED}\r\n`,
    ],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 202 A\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12'],
  ])('and brings %s is 502 upstream_invalid_response', async (_, bytes) => {
    await expectInvalid(await sendOver((socket) => socket.end(bytes)));
  });

  it('and brings an answer without length, ended by its close, is 202', async () => {
    const bytes = `HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n${ACCEPTED}`;
    expect((await sendOver((socket) => socket.end(bytes))).status).toBe(202);
  });

  it.each([
    ['nothing', ''],
    ['half a status line', 'HTTP/1.1 20'],
    ['headers alone', 'HTTP/1.1 202 Accepted\r\nContent-Length: 44\r\n\r\n'],
    ['an interim answer alone', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['half a body', `HTTP/1.1 202 Accepted\r\nContent-Length: 44\r\n\r\n${ACCEPTED.slice(9)}`],
  ])('and stalls after %s is 502 upstream_timeout, and is closed', async (_, bytes) => {
    const over = Promise.withResolvers<void>();
    const startedAtMs = performance.now();
    const response = await sendOver((socket) => {
      socket.once('close', () => over.resolve());
      socket.write(bytes);
    });
    await expectTimeout(response);
    expect(performance.now() - startedAtMs).toBeGreaterThan(BUDGET_MS - 5);
    await over.promise;
  });

  it('does not keep the next command from a connection of its own', async () => {
    await expectTimeout(await sendOver(() => undefined));
    const answered = `HTTP/1.1 202 A\r\nContent-Length: ${ACCEPTED.length}\r\n\r\n${ACCEPTED}`;
    const response = await sendOver((socket) => socket.write(answered));
    expect(response.status).toBe(202);
  });

  it('and was closed while it was idle costs the next command nothing', async () => {
    const answered = `HTTP/1.1 202 A\r\nContent-Length: ${ACCEPTED.length}\r\n\r\n${ACCEPTED}`;
    expect((await sendOver((socket) => socket.write(answered))).status).toBe(202);
    for (const leave of ['end', 'resetAndDestroy'] as const) {
      const closed = [...runtime.openSockets].map((socket) => {
        socket[leave]();
        return once(socket, 'close');
      });
      expect(closed).toHaveLength(1);
      await Promise.all(closed);
      expect((await sendOver((socket) => socket.write(answered))).status).toBe(202);
    }
  });
});
