import { describe, expect, it } from '@jest/globals';
import { object, type ObjectContext } from '@restatedev/restate-sdk';
import { forAllTests, forThisTest } from '../support/for-this-test.ts';
import { AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { problem } from '../support/ask-raw.ts';
import { rawAnswer } from '../support/raw-client.ts';
import { recordingAgent } from '../support/recording-agent.ts';
import { registerAgents, restateUrls } from '../support/restate.ts';
import { ACCEPTED } from '../support/runtime.ts';
import { testGateway } from '../support/scripted-gateway.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const TYPE = 'commands-probe';
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const LOWERCASE_ULID = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

const probe = recordingAgent(TYPE);
const wakeOnly = object({ name: 'commands-wake-only', handlers: { wake: async () => {} } });
const jsonOnly = object({
  name: 'commands-json-only',
  handlers: { wake: async (_context: ObjectContext, _input: unknown) => {} },
});
forAllTests(() => registerAgents([probe.service, wakeOnly, jsonOnly]));
const gateway = testGateway(() => ({ GATEWAY_RUNTIME_INGRESS_URL: restateUrls().ingressUrl }));

interface Accepted {
  url: string;
  streamPath: string;
  streamUrl: string;
  restate: { invocationId: string };
}

function post(path: string, body: string | Buffer, headers = {}, to = gateway): Promise<Response> {
  return fetch(to.url + path, {
    method: 'POST',
    // Bytes, because fetch would give text a Content-Type.
    body: new Uint8Array(Buffer.from(body)),
    headers: { ...AUTHORIZED, ...headers },
  });
}

/** Has a gateway with other settings for the time of these calls. */
async function withGateway(
  settings: Record<string, string>,
  use: (to: TestGateway) => Promise<void>,
): Promise<void> {
  const { ingressUrl } = restateUrls();
  const to = await startTestGateway({ GATEWAY_RUNTIME_INGRESS_URL: ingressUrl, ...settings });
  try {
    await use(to);
  } finally {
    await to.stop();
  }
}

async function accepted(answer: Promise<Response>): Promise<Accepted> {
  const response = await answer;
  const body = await response.text();
  expect([response.status, body]).toEqual([202, expect.any(String)]);
  return JSON.parse(body) as Accepted;
}

describe('the answer to a command', () => {
  it.each([
    ['spawn', '/api/spawn', `{"type":"${TYPE}","id":"answer-spawn"}`],
    ['wake', `/api/a/${TYPE}/answer-wake/send`, ''],
    ['control', `/api/a/${TYPE}/answer-control/control`, '{"verb":"pause"}'],
    ['spawn', '/api/t/default/spawn', `{"type":"${TYPE}","id":"answer-q-spawn"}`],
    ['wake', `/api/t/default/a/${TYPE}/answer-q-wake/send`, ''],
    ['control', `/api/t/%64efault/a/${TYPE}/answer-q-control/control`, '{"verb":"pause"}'],
  ])(
    'to %s at %s is 202 with the entity, its timeline and the invocation',
    async (handler, path, body) => {
      const response = await post(path, body, { 'x-request-id': 'answer-1' });

      expect(response.status).toBe(202);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('x-request-id')).toBe('answer-1');
      expect(response.headers.has('idempotency-replayed')).toBe(false);
      const id = path.includes('/t/') ? `answer-q-${handler}` : `answer-${handler}`;
      expect(await response.json()).toEqual({
        url: `/t/default/a/${TYPE}/${id}`,
        streamPath: `/t/default/agents/${TYPE}/${id}/timeline`,
        streamUrl: `/streams/t/default/agents/${TYPE}/${id}/timeline`,
        restate: { invocationId: expect.stringMatching(/^inv_\w+$/) },
      });
      expect(await probe.firstRun(id)).toMatchObject({ handler, key: id, body: Buffer.from(body) });
    },
  );

  it('names the tenant of the deployment', () =>
    withGateway({ GATEWAY_TENANT: 'acme_1' }, async (acme) => {
      const { url } = await accepted(post(`/api/t/acme_1/a/${TYPE}/acme/send`, '', {}, acme));
      expect(url).toBe(`/t/acme_1/a/${TYPE}/acme`);
      const { headers } = await probe.firstRun('acme');
      expect(headers['x-entity-url']).toBe(`/t/acme_1/a/${TYPE}/acme`);
      expect(headers['x-entity-stream']).toBe(`/t/acme_1/agents/${TYPE}/acme/timeline`);
    }));
});

describe('the body of a command', () => {
  const odd = ' {\r\n"n" : 12345678901234567890.10,\t"a":1,"a":2, "s":"\\u00e9é\\/" }\n';
  const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

  it.each([
    ['odd JSON', odd, 'application/json; charset=UTF-8'],
    ['no JSON', '{"kind": ', 'application/json'],
    ['a byte-order mark', '\uFEFF{}', 'application/json'],
    ['every byte', everyByte, 'application/octet-stream'],
    ['text', 'hello', 'text/plain;charset=utf-8;  x="Y"'],
    ['nothing', '', 'application/x-nothing'],
    ['900 kB', Buffer.alloc(900_000, 'é'), 'application/json'],
  ])('reaches the agent as it came: a send of %s', async (name, body, contentType) => {
    const id = `bytes-${name.replaceAll(' ', '-')}`;
    await accepted(post(`/api/a/${TYPE}/${id}/send`, body, { 'content-type': contentType }));

    const run = await probe.firstRun(id);
    expect(run.body.equals(Buffer.from(body))).toBe(true);
    expect(run.headers['content-type']).toBe(contentType);
  });

  it.each([
    ['without a Content-Type', 'content-type-none', {}],
    ['with an empty Content-Type', 'content-type-empty', { 'content-type': '' }],
  ])('is JSON to the agent when it comes %s', async (_, id, headers) => {
    await accepted(post(`/api/a/${TYPE}/${id}/send`, '{}', headers));
    expect((await probe.firstRun(id)).headers['content-type']).toBe('application/json');
  });

  it('arrives whole when it comes in chunks', async () => {
    const head = [`Authorization: ${AUTHORIZED.authorization}`, 'Transfer-Encoding: chunked'];
    const body = '3\r\n{"a\r\n2;x=y\r\n":\r\n3\r\n 1}\r\n0\r\nX-Trailer: t\r\n\r\n';
    const answer = await rawAnswer(gateway.port, `POST /api/a/${TYPE}/chunked/send`, head, body);
    expect(answer.status).toBe(202);

    const run = await probe.firstRun('chunked');
    expect(run.body.toString()).toBe('{"a": 1}');
    expect(run.headers['content-length']).toBe('8');
  });

  it.each([
    [
      'spawn',
      '/api/spawn',
      `\n{ "args" : {"n":12345678901234567890,"x":1,"x":2, "y":1e400, "deep":[[[{}]]]},\t"id":"bytes-spawn",` +
        `"workspaceRef":"default/team","type" :"${TYPE}", ` +
        `"parent":"/t/default/a/${TYPE}/p1" } `,
    ],
    [
      'control',
      `/api/a/${TYPE}/bytes-control/control`,
      '{ "verb":"\\u0061rchive" ,"reason" : "b\\n"}\r\n',
    ],
  ])(
    'reaches the agent as it came, typed JSON whatever it says it is: a %s',
    async (handler, path, body) => {
      await accepted(post(path, body, { 'content-type': 'text/plain' }));
      const run = await probe.firstRun(`bytes-${handler}`);
      expect(run).toMatchObject({ handler, body: Buffer.from(body) });
      expect(run.headers['content-type']).toBe('application/json');
    },
  );

  it('may hold arguments nested 250,000 deep', async () => {
    const args = '['.repeat(250_000) + ']'.repeat(250_000);
    const body = `{"type":"${TYPE}","id":"deep","args":${args}}`;
    await accepted(post('/api/spawn', body));
    expect((await probe.firstRun('deep')).body.equals(Buffer.from(body))).toBe(true);
  });
});

describe('what of a request reaches the runtime', () => {
  const OF_THE_CLIENT = {
    cookie: 'session=very-secret-cookie',
    'proxy-authorization': 'Basic very-secret-proxy',
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-host': 'very-secret-host',
    forwarded: 'for=203.0.113.7',
    'user-agent': 'very-secret-agent',
    accept: 'very/secret-accept',
    'accept-language': 'xx-very-secret',
    origin: 'http://very-secret-origin',
    referer: 'http://very-secret-referer',
    baggage: 'very-secret-baggage=1',
    'x-custom': 'very-secret-custom',
    'x-api-key': 'very-secret-key',
    'x-restate-server': 'very-secret-restate',
    'x-entity-url': '/t/very-secret/a/b/c',
    'x-entity-stream': '/t/very-secret',
    'content-encoding': 'very-secret-encoding',
  };

  it.each([
    ['spawn', '/api/spawn', `{"type":"${TYPE}","id":"headers-spawn"}`],
    ['wake', `/api/a/${TYPE}/headers-wake/send`, '{}'],
    ['control', `/api/t/default/a/${TYPE}/headers-control/control`, '{"verb":"pause"}'],
  ])('is the documented headers of a %s, in its journal too', async (handler, path, body) => {
    const id = `headers-${handler}`;
    const key = `!"# key  of ${handler}, ~`;
    const { restate } = await accepted(
      post(`${path}?delay=10d&token=very-secret-query`, body, {
        ...OF_THE_CLIENT,
        'content-type': 'application/json',
        'idempotency-key': key,
        'x-request-id': 'req.1_2-3',
        traceparent: TRACEPARENT,
        tracestate: 'vendor=value, b=c',
      }),
    );

    const documented = {
      // Restate's own.
      'x-restate-ingress-path': `/${TYPE}/${id}/${handler}/send`,
      'content-length': String(body.length),
      'content-type': 'application/json',
      'x-entity-url': `/t/default/a/${TYPE}/${id}`,
      'x-entity-stream': `/t/default/agents/${TYPE}/${id}/timeline`,
      'x-request-id': 'req.1_2-3',
      traceparent: TRACEPARENT,
      tracestate: 'vendor=value, b=c',
    };
    expect((await probe.firstRun(id)).headers).toEqual(documented);

    const { invocation, journal } = await journalOf(restate.invocationId);
    expect(journaledHeaders(journal)).toEqual(documented);
    expect(invocation).toMatchObject({ idempotency_key: key, target_handler_name: handler });
    const stored = JSON.stringify([invocation, journal]);
    expect(stored).not.toContain('very-secret');
    expect(stored).not.toContain('203.0.113.7');
    expect(stored).not.toContain(AUTHORIZED.authorization.slice('Bearer '.length));
  });

  it('is a request id of the gateway where the client has none, and no trace', async () => {
    const response = await post(`/api/a/${TYPE}/headers-none/send`, '', {
      'x-request-id': 'not acceptable',
      traceparent: 'nonsense',
      tracestate: 'a=b',
    });
    expect(response.status).toBe(202);
    const requestId = response.headers.get('x-request-id');
    expect(requestId).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    const { headers } = await probe.firstRun('headers-none');
    expect(headers).toEqual({
      'x-restate-ingress-path': `/${TYPE}/headers-none/wake/send`,
      'content-length': '0',
      'content-type': 'application/json',
      'x-entity-url': `/t/default/a/${TYPE}/headers-none`,
      'x-entity-stream': `/t/default/agents/${TYPE}/headers-none/timeline`,
      'x-request-id': requestId,
    });
  });
});

describe('the address of a command', () => {
  it.each([
    ['%63ommands-probe', 'a%3A1%40x', 'a:1@x'],
    [TYPE, 'decoded%2Eonce', 'decoded.once'],
    [TYPE, 'A.b_c~d:e@f-g..', 'A.b_c~d:e@f-g..'],
    [TYPE, 'x'.repeat(128), 'x'.repeat(128)],
    // 3 % of nanoids begin so, and were refused.
    [TYPE, '_V1StGXR8-Z5jdHi6B', '_V1StGXR8-Z5jdHi6B'],
    [TYPE, '-V1StGXR8_Z5jdHi6B', '-V1StGXR8_Z5jdHi6B'],
  ])('is decoded once: /api/a/%s/%s/send', async (type, encoded, id) => {
    const { url } = await accepted(post(`/api/a/${type}/${encoded}/send`, ''));
    expect(url).toBe(`/t/default/a/${TYPE}/${id}`);
    expect((await probe.firstRun(id)).headers['x-entity-url']).toBe(url);
  });

  it.each([
    ['{tenant}:{id}', 'template-1', 'default:template-1'],
    ['{type}.{id}', 'template-2', `${TYPE}.template-2`],
    ['{tenant}/{type}/{id}', 'template-3:x', `default/${TYPE}/template-3:x`],
    ['{id}{id} %2F?#ü{tenant}', 'template-4', 'template-4template-4 %2F?#üdefault'],
  ])('is the key of the template %s', (template, id, key) =>
    withGateway({ GATEWAY_RUNTIME_KEY_TEMPLATE: template }, async (templated) => {
      const { url } = await accepted(post(`/api/a/${TYPE}/${id}/send`, '', {}, templated));
      expect(url).toBe(`/t/default/a/${TYPE}/${id}`);
      expect((await probe.firstRun(key)).headers['x-entity-url']).toBe(url);
    }),
  );

  const withApi = (api: string, use: (to: TestGateway) => Promise<void>): Promise<void> =>
    withGateway(
      { GATEWAY_RUNTIME_KEY_TEMPLATE: '{tenant}/{id} %2F', GATEWAY_RUNTIME_API: api },
      use,
    );

  // A deployment can change from one to the other while clients retry.
  it('is the same command by both ways of GATEWAY_RUNTIME_API', () =>
    withApi('classic', (classic) =>
      withApi('restate', async (restate) => {
        const send = (to: TestGateway): Promise<Accepted> =>
          accepted(post(`/api/a/${TYPE}/both/send`, 'hello', { 'idempotency-key': 'both-1' }, to));
        const first = await send(restate);
        expect((await probe.firstRun('default/both %2F')).headers['x-entity-url']).toBe(first.url);
        for (const to of [restate, classic, restate]) expect(await send(to)).toEqual(first);
        const unknown = await post('/api/a/commands-nobody/a1/send', '', {}, restate);
        expect(unknown.status).toBe(404);
        expect(await unknown.json()).toMatchObject({ code: 'entity_type_not_registered' });
      }),
    ));
  it.each([
    ['classic', `/in/${TYPE}/a%2F1/wake/send`],
    ['restate', `/in/restate/send/${TYPE}/a%2F1/wake`],
  ])('has the path of GATEWAY_RUNTIME_API=%s', async (api, path) => {
    const runtime = forThisTest(
      await startScriptedUpstream((_request, response) => response.writeHead(202).end(ACCEPTED)),
    );
    const settings = {
      GATEWAY_RUNTIME_INGRESS_URL: `${runtime.url}/in`,
      GATEWAY_RUNTIME_KEY_TEMPLATE: 'a/{id}',
      GATEWAY_RUNTIME_API: api,
    };
    await withGateway(settings, async (to) => {
      await accepted(post(`/api/a/${TYPE}/1/send`, '', {}, to));
      expect(runtime.seen.map(({ target }) => target)).toEqual([path]);
    });
  });

  it.each([
    ['a type', 'commands-nobody', 'send', ''],
    ['a command of a type', 'commands-wake-only', 'control', '{"verb":"pause"}'],
  ])('is 404 for %s that the runtime does not know', async (_, type, command, body) => {
    const headers = { 'x-request-id': 'unknown-1' };
    const response = await post(`/api/a/${type}/a1/${command}`, body, headers);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toEqual(
      problem(
        404,
        'entity_type_not_registered',
        'The entity type is not registered',
        'The runtime knows no such entity type, or not this command of it; register its deployment first.',
        'unknown-1',
      ),
    );
  });

  it("is 400 with the runtime's own words where the agent takes no such input", async () => {
    const headers = { 'content-type': 'text/plain', 'x-request-id': 'input-1' };
    const response = await post('/api/a/commands-json-only/a1/send', 'hello', headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual(
      problem(
        400,
        'runtime_rejected',
        'The runtime rejected the command',
        "The runtime rejected the command: input validation error: Content-type 'text/plain' does not match 'application/json'",
        'input-1',
      ),
    );
  });
});

describe('a spawn without id', () => {
  it('gets a fresh lowercase ULID each time', async () => {
    const body = `{"type":"${TYPE}"}`;
    const [one, other] = await Promise.all([
      accepted(post('/api/spawn', body)),
      accepted(post('/api/spawn', body)),
    ]);
    expect(idOf(one)).toMatch(LOWERCASE_ULID);
    expect(idOf(other)).toMatch(LOWERCASE_ULID);
    expect(idOf(one)).not.toBe(idOf(other));
    expect((await probe.firstRun(idOf(one))).body.toString()).toBe(body);
  });

  it('is one too where the id and all else that is optional is null, and its bytes stay', async () => {
    const body = `{"id":null,"type":"${TYPE}","args": null,"parent":null,"workspaceRef":null}`;
    const spawned = await accepted(post('/api/spawn', body));
    expect(idOf(spawned)).toMatch(LOWERCASE_ULID);
    expect((await probe.firstRun(idOf(spawned))).body.toString()).toBe(body);
  });

  it('names with its Idempotency-Key the same entity again, and runs once', async () => {
    const headers = { 'idempotency-key': 'spawn-without-id' };
    const first = await post('/api/spawn', `{"type":"${TYPE}"}`, headers);
    const again = await post('/api/t/default/spawn', `{"type":"${TYPE}"}`, headers);

    expect([first.status, again.status]).toEqual([202, 202]);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const answer = (await first.json()) as Accepted;
    expect(await again.json()).toEqual(answer);
    expect(idOf(answer)).toMatch(LOWERCASE_ULID);
    expect(await runsAtTheEnd(idOf(answer))).toEqual(['spawn']);
  });

  it('names another entity for another key', async () => {
    const spawned = await Promise.all(
      ['spawn-key-1', 'spawn-key-2'].map((key) =>
        accepted(post('/api/spawn', `{"type":"${TYPE}"}`, { 'idempotency-key': key })),
      ),
    );
    expect(new Set(spawned.map(idOf)).size).toBe(2);
  });
});

describe('a repeated command', () => {
  it('with the same Idempotency-Key runs once and is answered as replayed', async () => {
    const send = () =>
      post(`/api/a/${TYPE}/repeated/send`, 'x', {
        // 1,024 characters, the most that there may be.
        'idempotency-key': `order 4711, ${'~'.repeat(1_004)} (retry)`,
      });
    const answers = await Promise.all([send(), send(), send()]);

    const bodies = await Promise.all(answers.map((answer) => answer.json()));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    const replayed = answers.filter((answer) => answer.headers.has('idempotency-replayed'));
    expect(replayed).toHaveLength(2);
    expect(await runsAtTheEnd('repeated')).toEqual(['wake']);
  });

  it('with no Idempotency-Key runs again', async () => {
    await accepted(post(`/api/a/${TYPE}/unkeyed/send`, 'x'));
    await accepted(post(`/api/a/${TYPE}/unkeyed/send`, 'x'));
    expect(await runsAtTheEnd('unkeyed')).toEqual(['wake', 'wake']);
  });

  it('with the same Idempotency-Key for another entity, or another handler, is another', async () => {
    const headers = { 'idempotency-key': 'shared' };
    await accepted(post(`/api/a/${TYPE}/shared-1/send`, 'x', headers));
    await accepted(post(`/api/a/${TYPE}/shared-2/send`, 'x', headers));
    await accepted(post(`/api/a/${TYPE}/shared-1/control`, '{"verb":"pause"}', headers));
    expect(await runsAtTheEnd('shared-1')).toEqual(['wake', 'control']);
    expect(await runsAtTheEnd('shared-2')).toEqual(['wake']);
  });
});

function idOf({ url }: Accepted): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** The handlers that ran for a key, after all earlier commands have run. Virtual objects handle commands in order. */
async function runsAtTheEnd(key: string): Promise<string[]> {
  await accepted(post(`/api/a/${TYPE}/${key}/send`, 'the end'));
  for (let count = 1; ; count++) {
    const runs = await probe.waitForRuns(key, count);
    if (runs.at(-1)?.body.toString() === 'the end') {
      return runs.slice(0, -1).map(({ handler }) => handler);
    }
  }
}

interface JournalEntry {
  index: number;
  entry_json: string;
}

/** Everything that Restate stores about an invocation. */
async function journalOf(
  id: string,
): Promise<{ invocation: Record<string, unknown>; journal: JournalEntry[] }> {
  const query = async (table: string): Promise<unknown[]> => {
    const response = await fetch(`${restateUrls().adminUrl}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query: `select * from ${table} where id = '${id}'` }),
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as { rows: unknown[] }).rows;
  };
  const [invocation] = (await query('sys_invocation')) as Record<string, unknown>[];
  if (!invocation) throw new Error(`Restate has no ${id}`);
  return { invocation, journal: (await query('sys_journal')) as JournalEntry[] };
}

function journaledHeaders(journal: JournalEntry[]): Record<string, string> {
  const input = journal.find(({ index }) => index === 0);
  const entry = JSON.parse(input?.entry_json ?? '{}') as {
    Command: { Input: { headers: { name: string; value: string }[] } };
  };
  return Object.fromEntries(entry.Command.Input.headers.map(({ name, value }) => [name, value]));
}
