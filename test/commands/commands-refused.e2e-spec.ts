import { describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/gateway.ts';
import { parseRaw, rawAnswer, rawRequest, sendRaw } from '../support/raw-client.ts';
import { ACCEPTED } from '../support/runtime.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';
import { openWire, type Wire } from '../support/wire.ts';

const MAX_BODY_BYTES = 1_000;
const AUTHORIZATION = `Authorization: ${AUTHORIZED.authorization}`;

const { gateway, upstream: runtime } = scriptedGateway(
  // It would take anything.
  (_request, response) => response.writeHead(202).end(ACCEPTED),
  () => ({ GATEWAY_MAX_BODY_BYTES: String(MAX_BODY_BYTES) }),
);

interface Problem {
  status: number;
  code: string;
  detail: string;
  errors?: { field: string; message: string }[];
}

/** Sends a command as raw bytes. Expects a refusal and no upstream request. */
async function refused(
  path: string,
  body: string | Buffer,
  headers: string[] = [],
): Promise<Problem> {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const head = rawRequest(`POST ${path}`, [AUTHORIZATION, 'X-Request-Id: r1', length, ...headers]);
  const answer = await sendRaw(
    gateway.port,
    Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]),
  );
  const problem = problemIn(answer);
  // The log once named the runtime as the upstream of commands that never went there.
  expect(JSON.parse(gateway.logLines.at(-1) ?? '')).toMatchObject({
    requestId: 'r1',
    status: problem.status,
    code: problem.code,
  });
  expect(gateway.logLines.at(-1)).not.toContain('"upstream"');
  return problem;
}

function problemIn(answer: string): Problem {
  const { status, head, body } = parseRaw(answer);
  expect(head).toMatch(/^Content-Type: application\/problem\+json$/m);
  expect(head).toMatch(/^X-Request-Id: r1$/m);
  const problem = JSON.parse(body) as Problem & Record<string, unknown>;
  const { type, title, requestId, ...rest } = problem;
  expect({ type, title, requestId }).toEqual({
    type: `urn:agent-gateway:error:${problem.code}`,
    title: expect.any(String),
    requestId: 'r1',
  });
  expect(problem.status).toBe(status);
  expect(runtime.seen).toEqual([]);
  return rest;
}

const BAD_ID =
  'The entity id must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ : @ -, the first a letter, a digit, _ or -.';
const BAD_TYPE =
  'The entity type must be 1 to 63 letters, digits, underscores, dots or hyphens, the first a letter.';

describe('a command to a malformed address', () => {
  it.each([
    '.a',
    '~a',
    '.',
    '..',
    '%2e%2e',
    '%2E',
    'a%2Fb',
    'a%5Cb',
    'a%2541',
    'a%25',
    '%00',
    'a%0a',
    'a%20b',
    'a+b',
    'a,b',
    'a%C3%A9',
    'a%ff',
    'a%',
    'a%4',
    'a%zz',
    'a%41%zz',
    'x'.repeat(129),
  ])('with the id %s is 400 invalid_entity_id', async (id) => {
    const problem = { status: 400, code: 'invalid_entity_id', detail: BAD_ID };
    expect(await refused(`/api/a/chat/${id}/send`, '{}')).toEqual(problem);
    expect(await refused(`/api/a/chat/${id}/control`, '{"verb":"pause"}')).toEqual(problem);
    expect(await refused(`/api/t/default/a/chat/${id}/send`, '{}')).toEqual(problem);
  });

  it.each(['1a', '_a', '..', 'a:b', 'a~b', 'a%2Fb', '%ff', '%', 'a%2541', 'x'.repeat(64)])(
    'with the type %s is 400 invalid_entity_type',
    async (type) => {
      const problem = { status: 400, code: 'invalid_entity_type', detail: BAD_TYPE };
      expect(await refused(`/api/a/${type}/a1/send`, '{}')).toEqual(problem);
      expect(await refused(`/api/t/default/a/${type}/a1/control`, '{}')).toEqual(problem);
    },
  );

  it.each(['restate', 'Restate', 'OPENAPI', '%72estate'])(
    'with the type %s, which the runtime keeps for itself, is 400 invalid_entity_type',
    async (type) => {
      const detail =
        'The entity type must not be "restate" or "openapi", which the runtime keeps for itself.';
      const problem = { status: 400, code: 'invalid_entity_type', detail };
      expect(await refused(`/api/a/${type}/a1/send`, '{}')).toEqual(problem);
    },
  );

  it.each([
    '/api/t/other/a/chat/a1/send',
    '/api/t/other/a/chat/a1/control',
    '/api/t/other/spawn',
    '/api/t/DEFAULT/spawn',
    '/api/t/default%00/spawn',
    '/api/t/%ff/spawn',
    '/api/t/../spawn',
    '/api/t/other/a/-/-/send',
  ])('of another tenant, %s, is 404 tenant_not_served', async (path) => {
    expect(await refused(path, '{"type":"chat","verb":"pause"}')).toEqual({
      status: 404,
      code: 'tenant_not_served',
      detail: 'This deployment serves the tenant "default" only.',
    });
  });

  it.each([
    '/%61pi/spawn',
    '/api//spawn',
    '/api/./spawn',
    '/api/a/../spawn',
    '/api/spawn/x',
    '/api/a/chat/a1/wake',
    '/api/a/chat//send',
    '/api/a/chat/a1/x/send',
    '/api/a/chat/a1%2Fsend',
    '/api/t/default/default/spawn',
    '/api',
  ])('that is no route, %s, is 404 route_not_found', async (path) => {
    expect(await refused(path, '{"type":"chat"}')).toMatchObject({
      status: 404,
      code: 'route_not_found',
    });
  });

  it('is not looked at before the credential', async () => {
    for (const path of ['/api/a/1/-/send', '/api/t/other/spawn', '/api/a/x/%zz/control']) {
      const answer = await sendRaw(gateway.port, rawRequest(`POST ${path}`, ['X-Request-Id: r1']));
      expect(problemIn(answer)).toMatchObject({ status: 401, code: 'missing_credentials' });
    }
  });
});

const unknown = 'is not a known field';
const once = 'must be given only once';

describe('a spawn that is not valid', () => {
  it.each([
    ['', 'invalid_body'],
    ['null', 'invalid_body'],
    ['[]', 'invalid_body'],
    ['{"type":"chat"', 'invalid_body'],
    ['\uFEFF{"type":"chat"}', 'invalid_body'],
    ['{"type":"chat","__proto__":1}', 'invalid_body', '__proto__', unknown],
    ['{"type":"chat","toString":1}', 'invalid_body', 'toString', unknown],
    ['{"type":"chat","constructor":{"prototype":{"x":1}}}', 'invalid_body', 'constructor', unknown],
    ['{"id":"a1"}', 'invalid_body', 'type', 'is required: the entity type to spawn'],
    ['{"type":"chat","ty\\u0070e":"chat"}', 'invalid_body', 'type', once],
    ['{"id":"a1","type":"chat","id":"a1"}', 'invalid_body', 'id', once],
    // The gateway judged the last of two parents, and an agent may read the first.
    [
      '{"type":"chat","parent":"/t/other/a/chat/x","parent":"/t/default/a/chat/a1"}',
      'invalid_body',
      'parent',
      once,
    ],
    ['{"args":1,"type":"chat","\\u0061rgs":1}', 'invalid_body', 'args', once],
    [
      '{"type":"openapi"}',
      'invalid_entity_type',
      'type',
      'must not be "restate" or "openapi", which the runtime keeps for itself',
    ],
    [
      '{"type":"chat","id":"a%31"}',
      'invalid_entity_id',
      'id',
      BAD_ID.slice('The entity id '.length, -1),
    ],
    [
      '{"type":"chat","parent":"/t/other/a/chat/a1"}',
      'invalid_body',
      'parent',
      'must be an entity URL /t/default/a/<type>/<id>',
    ],
    [
      '{"type":"chat","workspaceRef":"other/x"}',
      'invalid_body',
      'workspaceRef',
      'must be of the form default/<name>',
    ],
  ])('as %s is 400', async (...[body = '', code, field, message]) => {
    const problem = await refused('/api/spawn', body);
    expect(problem).toMatchObject({ status: 400, code });
    expect(problem.errors).toEqual(field === undefined ? undefined : [{ field, message }]);
    expect(await refused('/api/t/default/spawn', body)).toEqual(problem);
  });

  it('is told all that is wrong at once', async () => {
    const body = '{"id":7,"args":1,"parent":"x","workspaceRef":"default/","x\\u0000":1}';
    expect(await refused('/api/spawn', body)).toEqual({
      status: 400,
      code: 'invalid_body',
      detail: expect.stringContaining('"workspaceRef" must be of the form default/<name>'),
      errors: [
        { field: 'x\u0000', message: unknown },
        { field: 'type', message: 'is required: the entity type to spawn' },
        { field: 'id', message: BAD_ID.slice('The entity id '.length, -1) },
        { field: 'parent', message: 'must be an entity URL /t/default/a/<type>/<id>' },
        { field: 'workspaceRef', message: 'must be of the form default/<name>' },
      ],
    });
  });

  it('because its bytes are no UTF-8 is 400', async () => {
    const body = Buffer.from('{"type":"chat","args":"\xe9"}', 'latin1');
    expect(await refused('/api/spawn', body)).toEqual({
      status: 400,
      code: 'invalid_body',
      detail: 'The body must be JSON in valid UTF-8.',
    });
  });
});

describe('a control that is not valid', () => {
  const oneOf = 'must be one of interrupt, pause, resume, archive';
  it.each([
    ['{"verb":"stop"}', 'unknown_verb', 'verb', oneOf],
    ['{"verb":"Pause"}', 'unknown_verb', 'verb', oneOf],
    ['{"verb":["pause"]}', 'unknown_verb', 'verb', oneOf],
    ['{}', 'invalid_body', 'verb', 'is required: one of interrupt, pause, resume, archive'],
    ['{"verb":"pause","v\\u0065rb":"archive"}', 'invalid_body', 'verb', once],
    ['{"reason":"x","verb":"pause","reason":"x"}', 'invalid_body', 'reason', once],
    ['{"verb":"pause","reason":7}', 'invalid_body', 'reason', 'must be a string'],
    ['{"verb":"pause","__proto__":7}', 'invalid_body', '__proto__', unknown],
  ])('as %s is 400', async (body, code, field, message) => {
    expect(await refused('/api/a/chat/a1/control', body)).toEqual({
      status: 400,
      code,
      detail: `The body is not valid: "${field}" ${message}.`,
      errors: [{ field, message }],
    });
  });
});

describe('an Idempotency-Key', () => {
  it.each([
    ['empty', ['Idempotency-Key:']],
    ['blank', ['Idempotency-Key:  \t ']],
    ['of 1,025 characters', [`Idempotency-Key: ${'x'.repeat(1_025)}`]],
    ['with a tab', ['Idempotency-Key: a\tb']],
    ['beyond ASCII', ['Idempotency-Key: \xe9']],
    ['given twice', ['Idempotency-Key: a', 'idempotency-key: a']],
  ])('%s is 400 invalid_idempotency_key', async (_, headers) => {
    const problem = {
      status: 400,
      code: 'invalid_idempotency_key',
      detail:
        'Idempotency-Key must be 1 to 1,024 characters of visible ASCII and inner spaces, given once.',
    };
    expect(await refused('/api/spawn', '{"type":"chat"}', headers)).toEqual(problem);
    expect(await refused('/api/a/chat/a1/send', 'x', headers)).toEqual(problem);
    expect(await refused('/api/a/chat/a1/control', '{"verb":"pause"}', headers)).toEqual(problem);
  });
});

describe('a body over the cap', () => {
  const problem = {
    status: 413,
    code: 'body_too_large',
    detail: `The request body must not be over ${MAX_BODY_BYTES} bytes.`,
  };
  const PATHS = ['/api/spawn', '/api/a/chat/a1/send', '/api/t/default/a/chat/a1/control'];

  it.each(PATHS)('by its Content-Length is 413 at %s, before a byte of it came', async (path) => {
    const client = await begin(path, [`Content-Length: ${MAX_BODY_BYTES + 1}`]);
    expect(problemIn(await client.until('}'))).toEqual(problem);
    client.reset();
  });

  it.each(PATHS)('by its chunks is 413 at %s, before the last of them came', async (path) => {
    const client = await begin(path, ['Transfer-Encoding: chunked']);
    for (const bytes of [600, 401]) {
      await client.write(`${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`);
    }
    expect(problemIn(await client.until('}'))).toEqual(problem);
    client.reset();
  });

  it.each(['1e9', '99999999999999999999', '+1001', '0x10', '-1', '1001, 1001'])(
    'cannot be hidden by the Content-Length %s',
    async (length) => {
      const headers = [AUTHORIZATION, `Content-Length: ${length}`];
      const answer = await rawAnswer(gateway.port, 'POST /api/a/chat/a1/send', headers);
      expect(answer.status).toBe(400);
      expect(runtime.seen).toEqual([]);
    },
  );

  it('exactly at the cap passes, by Content-Length and in chunks', async () => {
    const body = 'x'.repeat(MAX_BODY_BYTES);
    const chunked = `${MAX_BODY_BYTES.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    for (const [header, sent] of [
      [`Content-Length: ${MAX_BODY_BYTES}`, body],
      ['Transfer-Encoding: chunked', chunked],
    ] as const) {
      const headers = [AUTHORIZATION, header];
      const answer = await rawAnswer(gateway.port, 'POST /api/a/chat/a1/send', headers, sent);
      expect(answer.status).toBe(202);
    }
    expect(runtime.seen.map((request) => request.body.toString())).toEqual([body, body]);
  });
});

describe('a client that waits for leave to send its body (Expect: 100-continue)', () => {
  const EXPECT = 'Expect: 100-Continue';

  it.each([
    ['too large a body', '/api/a/chat/a1/send', ['Content-Length: 1001'], 413],
    ['no credential', '/api/a/chat/a1/send', ['Content-Length: 2', 'Authorization: Bearer x'], 401],
    // It was once asked for its body and then told that its address was malformed.
    ['a malformed id', '/api/a/chat/~/send', ['Content-Length: 2'], 400],
    ['a malformed type', '/api/a/1/a1/control', ['Content-Length: 2'], 400],
    ['another tenant', '/api/t/other/spawn', ['Content-Length: 2'], 404],
    ['no route', '/api/spawn2', ['Content-Length: 2'], 404],
    ['a bad key', '/api/spawn', ['Content-Length: 2', 'Idempotency-Key: a\tb'], 400],
  ])('is refused for %s without it', async (_, path, headers, status) => {
    const client = await begin(path, [EXPECT, ...headers]);
    await client.over();
    expect(client.received).not.toContain('100 Continue');
    expect(problemIn(client.received).status).toBe(status);
  });

  it('gets it when there is nothing against the command', async () => {
    const client = await begin('/api/a/chat/a1/send', [EXPECT, 'Content-Length: 5']);
    await untilAsked(client);
    expect(runtime.seen).toEqual([]);
    await client.write('hello');
    expect(await client.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 202 /);
    expect(runtime.seen.map(({ body }) => body.toString())).toEqual(['hello']);
    expect(runtime.seen[0]?.headers.expect).toBeUndefined();
    client.reset();
  });

  it('is refused for chunks over the cap all the same', async () => {
    const client = await begin('/api/a/chat/a1/send', [EXPECT, 'Transfer-Encoding: chunked']);
    await untilAsked(client);
    await client.write(`${(1_001).toString(16)}\r\n${'x'.repeat(1_001)}\r\n`);
    expect(problemIn(await client.until('}')).status).toBe(413);
    client.reset();
  });

  async function untilAsked(client: Wire): Promise<void> {
    expect(await client.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.received = '';
  }
});

describe('a client that goes away within its body', () => {
  it('has sent no command', async () => {
    const client = await begin('/api/a/chat/gone/send', ['Content-Length: 100']);
    await client.write('{"half":');
    client.socket.destroy();
    // The next command over another connection is handled after it.
    const headers = [AUTHORIZATION, 'Content-Length: 0'];
    const next = await rawAnswer(gateway.port, 'POST /api/a/chat/next/send', headers);
    expect(next.status).toBe(202);
    expect(runtime.seen.map(({ target }) => target)).toEqual(['/chat/next/wake/send']);
  });
});

/** Sends the head of a command on a connection of its own. The test sends the body. */
async function begin(path: string, headers: string[]): Promise<Wire> {
  const client = await openWire(gateway.port);
  const credential = headers.some((header) => header.startsWith('Authorization'))
    ? []
    : [AUTHORIZATION];
  const lines = [`POST ${path} HTTP/1.1`, 'Host: g', 'X-Request-Id: r1', ...credential, ...headers];
  await client.write(`${lines.join('\r\n')}\r\n\r\n`);
  return client;
}
