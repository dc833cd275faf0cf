import { describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { AgentGateway } from '../../packages/client/src/index.ts';
import type { ChatUser } from '../../packages/client/src/server/index.ts';
import { API_KEY, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { newTimeline } from '../support/numbered-events.ts';
import { recordingAgent } from '../support/recording-agent.ts';
import { registerAgents, restateSettings } from '../support/restate.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { ask, startChatServer, userOf } from './chat-world.ts';

const TYPE = 'chat';
const recording = recordingAgent(TYPE);
forAllTests(() => registerAgents([recording.service]));
const history = forAllTests(() => startHistory());
const gateway = forAllTests(() =>
  startTestGateway({ ...restateSettings(), GATEWAY_HISTORY_URL: history.url }),
);

const problem = (status: number, code: string, detail: string): object => ({
  status,
  body: { status, code, detail },
  headers: expect.objectContaining({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    // Without it a page takes the answer for that of a proxy.
    'x-request-id': expect.stringMatching(/^[\w.-]+$/),
  }),
});
const notYours = problem(403, 'agent_not_yours', 'This agent is not yours.');
const crossSite = problem(403, 'cross_site', 'Only a page of this origin may do this.');
const noRoute = problem(404, 'route_not_found', 'There is nothing at this path.');
const notThisVerb = problem(403, 'verb_not_allowed', 'You may not apply this verb.');
const noVerb = problem(400, 'invalid_body', 'Send {"verb", "reason"?} and nothing else.');
const noSpawn = problem(400, 'invalid_body', 'Send {"type", "id", "args"?} and nothing else.');
const noMessage = problem(
  400,
  'invalid_body',
  'Send {"content": [texts and files]} and nothing else.',
);
const noTurn = problem(400, 'invalid_body', 'Send {"invocationId", "reason"?} and nothing else.');
const noDecision = problem(
  400,
  'invalid_body',
  'Send {"call", "approved", "note"?, "input"?} and nothing else.',
);
const noJson = problem(400, 'invalid_body', 'Send JSON in UTF-8.');

const HELLO = '{"content":[{"type":"text","text":"hello"}]}';

describe.each(['node', 'express'] as const)('the back end of a chat, by %s', (by) => {
  const server = forAllTests(() => startChatServer(gateway.url, by));

  /** The client of a page. The browser adds the cookie, and says where the request comes from. */
  function pageOf(more: Record<string, string>): AgentGateway {
    const asPage: typeof fetch = (input, init = {}) => {
      const own = Object.fromEntries(new Headers(init.headers));
      return fetch(input, { ...init, headers: { ...own, ...more, origin: server.url } });
    };
    return new AgentGateway({ url: gateway.url, backEnd: `${server.url}/chat`, fetch: asPage });
  }

  it('serves a page that spawns, sends, stops and reads', async () => {
    const id = `page-${by}`;
    const page = pageOf({ cookie: `user=${id}` });
    const spawned = await page.agents.spawn({ type: TYPE, id, args: { n: 1 } });
    const requestId = 'request-of-the-page';
    expect(spawned).toMatchObject({ url: `/t/default/a/${TYPE}/${id}`, isReplay: false });
    await page.agents.send(spawned, 'h\u00e9llo', { requestId, idempotencyKey: `k-${by}` });
    const again = page.agents.send(`${TYPE}/${id}`, 'h\u00e9llo', { idempotencyKey: `k-${by}` });
    expect(await again).toMatchObject({ isReplay: true });
    const file = { type: 'file', url: 'https://files.test/1', mediaType: 'image/png' };
    await page.agents.send(spawned, { content: [file, { type: 'text', text: 'and this' }] });
    await page.agents.control(spawned.url, 'interrupt', { reason: 'enough' });
    await page.agents.send(spawned, { kind: 'stop', invocationId: 'inv_1', reason: 'no' });
    await page.agents.send(spawned, { kind: 'withdraw', invocationId: 'inv_2' });
    const decision = { call: 'c1', approved: true, by: 'somebody else', note: 'ok', input: [1] };
    await page.agents.send(spawned, { kind: 'decision', ...decision });
    const runs = await recording.waitForRuns(id, 7);
    expect(runs.map(({ handler, body }) => [handler, body.toString('utf8')])).toEqual([
      ['spawn', `{"type":"${TYPE}","id":"${id}","args":{"n":1}}`],
      ['wake', '{"kind":"message","content":[{"type":"text","text":"h\u00e9llo"}]}'],
      [
        'wake',
        '{"kind":"message","content":[{"type":"file","url":"https://files.test/1","mediaType":"image/png"},{"type":"text","text":"and this"}]}',
      ],
      ['control', '{"verb":"interrupt","reason":"enough"}'],
      ['wake', '{"kind":"stop","invocationId":"inv_1","reason":"no"}'],
      ['wake', '{"kind":"withdraw","invocationId":"inv_2"}'],
      [
        'wake',
        `{"kind":"decision","call":"c1","approved":true,"by":"${id}","note":"ok","input":[1]}`,
      ],
    ]);
    expect(runs[1]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-request-id': requestId,
    });
    await newTimeline(history.url, id, 3);
    const seqs: number[] = [];
    await page.timeline(spawned, { live: false }).subscribe(({ seq }) => seqs.push(seq));
    expect(seqs).toEqual([0, 1, 2]);
    const foreign = page.timeline(`${TYPE}/another`, { live: false }).subscribe(() => undefined);
    await expect(foreign).rejects.toMatchObject({ status: 403, code: 'prefix_not_covered' });
    await expect(page.agents.send(`${TYPE}/another`, 'hello')).rejects.toMatchObject({
      status: 403,
      code: 'agent_not_yours',
    });
    expect(server.faults).toEqual([]);
  });

  // The reads of a page asked for a token again and again, and the page could not tell that its user had signed out.
  it('ends the reads of a page whose user has signed out', async () => {
    const read = pageOf({})
      .timeline(`${TYPE}/ada`)
      .subscribe(() => undefined);
    await expect(read).rejects.toMatchObject({ code: 'session_ended' });
  });

  // The sixteenth agent of a user made every token answer 500.
  it('reads any number of agents, 16 at once', async () => {
    const user = `many-${by}`;
    const page = pageOf({ cookie: `user=${user}` });
    const ids = Array.from({ length: 20 }, (_, index) => `${user}.${index}`);
    for (const id of ids) {
      await newTimeline(history.url, id, 2);
      const seqs: number[] = [];
      await page.timeline(`${TYPE}/${id}`, { live: false }).subscribe(({ seq }) => seqs.push(seq));
      expect([id, seqs]).toEqual([id, [0, 1]]);
    }
    // The first one was dropped, and is asked for again.
    const again: number[] = [];
    await page
      .timeline(`${TYPE}/${ids[0]}`, { live: false })
      .subscribe(({ seq }) => again.push(seq));
    expect(again).toEqual([0, 1]);
  });

  it("has no agent of others among the user's, which cost nothing by it", async () => {
    const user = `mixed-${by}`;
    await newTimeline(history.url, user, 1);
    const page = pageOf({ cookie: `user=${user}` });
    const read = (agent: string) =>
      page.timeline(agent, { live: false }).subscribe(() => undefined);
    const foreign = { status: 403, code: 'prefix_not_covered' };
    await Promise.all([
      read(`${TYPE}/${user}`),
      expect(read(`${TYPE}/nobodys`)).rejects.toMatchObject(foreign),
    ]);
    await expect(read(`${TYPE}/nobodys`)).rejects.toMatchObject(foreign);
  });

  it('mints a token for those agents of the user that the page asks for', async () => {
    const agents = ['chat/grace', 'chat/ada', 'chat/grace.2', 'chat/grace', '../x', 7];
    const { status, body, headers } = await ask(server, '/chat/token', {
      user: 'grace',
      body: JSON.stringify({ agents, catalog: true }),
    });
    const { token, ttlSeconds } = body as { token: string; ttlSeconds: number };
    expect([status, ttlSeconds, headers['cache-control']]).toEqual([200, 300, 'no-store']);
    expect(decodeJwt(token)).toEqual({
      aud: 'default',
      sub: 'grace',
      prefix: ['/streams/t/default/agents/chat/grace', '/streams/t/default/agents/chat/grace.2'],
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
  });

  it.each([
    ['[]', 200],
    ['{"agents":"chat/ada"}', 400],
    ['{"catalog":1}', 400],
    ['{"prefix":"/streams"}', 400],
    ['', 400],
  ])('takes a request of a token that is one: %s', async (body, status) => {
    expect((await ask(server, '/chat/token', { body })).status).toBe(status);
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another name of the same site', { 'sec-fetch-site': 'same-site' }],
    ['an address that somebody typed', { 'sec-fetch-site': 'none' }],
    ['another site that sends its origin, too', { 'sec-fetch-site': 'cross-site', origin: 'own' }],
    ['another origin, of an old browser', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
    ['another port', { 'sec-fetch-site': '', origin: 'http://127.0.0.1:2' }],
    ['a name that begins alike', { 'sec-fetch-site': '', origin: 'own.evil.example' }],
    ['an origin that hides itself', { 'sec-fetch-site': '', origin: 'null' }],
    ['nobody says where', { 'sec-fetch-site': '' }],
  ])('refuses a request that comes from %s', async (_, given: Record<string, string>) => {
    const { origin = '' } = given;
    const headers = { ...given, origin: origin.replace(/^own/, server.url) };
    for (const path of ['/chat/token', '/chat/api/spawn', '/chat/api/a/chat/ada/send']) {
      expect(await ask(server, path, { headers })).toEqual(crossSite);
    }
  });

  it('takes a page of its own origin from a browser without Sec-Fetch-Site, behind TLS, too', async () => {
    for (const origin of [server.url, server.url.replace('http:', 'https:')]) {
      const headers = { 'sec-fetch-site': '', origin };
      expect((await ask(server, '/chat/token', { headers })).status).toBe(200);
    }
  });

  it.each(['', 'text/plain', 'application/x-www-form-urlencoded', 'text/plain; application/json'])(
    'refuses a body that a form could send: %s',
    async (type) => {
      const headers = { 'content-type': type };
      const wanted = problem(415, 'json_required', 'Send the body as application/json.');
      expect(await ask(server, '/chat/api/a/chat/ada/send', { headers })).toEqual(wanted);
      expect(await ask(server, '/chat/token', { headers })).toEqual(wanted);
    },
  );

  it('answers no preflight, and nothing but POST', async () => {
    const wanted = problem(405, 'method_not_allowed', 'Use POST.');
    for (const method of ['OPTIONS', 'GET', 'PUT', 'DELETE']) {
      const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
      const answered = await ask(server, '/chat/token', { method, headers });
      expect(answered).toEqual(wanted);
      const names = Object.keys(answered.headers);
      expect(names.filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it.each([
    '/chat/api/a/chat/adam/send',
    '/chat/api/a/chat/Ada/send',
    '/chat/api/a/chats/ada/send',
    '/chat/api/t/default/a/chat/bob/control',
    '/chat/api/a/chat/ada/../bob/send',
    '/chat/api/a/chat/ada/%2e%2e/bob/send',
    '/chat/token/../api/a/chat/bob/send',
  ])("refuses another's agent: %s", async (path) => {
    expect(await ask(server, path, { body: '{"verb":"interrupt"}' })).toEqual(notYours);
  });

  it.each([
    '/chat/api/a/chat/ada%2fsend',
    '/chat/api/a/chat/ada%2F..%2Fbob/send',
    '/chat/api/a/chat/%61da/send',
    '/chat/api/a/chat%2Fada/send',
    '/chat/api/a/chat/ada%00/send',
    '/chat/api/a/chat/ada;x=1/send',
    '/chat/api/a/chat/.ada/send',
    '/chat/api/a/chat/ada/send/',
    '/chat/api/a/chat//ada/send',
    '/chat/api/t/other/a/chat/ada/send',
    '/chat/api/a/chat/ada/spawn',
    '/chat/api/t/default/spawn',
    '/chat/registry/deployments',
    '/chat/',
    '/chatter/token',
  ])('has no route: %s', async (path) => {
    const answered = await ask(server, path);
    // Express has a page of its own for what is not below its mount.
    if (!path.startsWith('/chat/') && by === 'express') expect(answered.status).toBe(404);
    else expect(answered).toEqual(noRoute);
  });

  it('survives a request that is no web request', async () => {
    const odd = { headers: { host: 'not a host' } };
    expect((await ask(server, '/chat/token', odd)).status).toBeGreaterThanOrEqual(400);
    expect((await ask(server, '/chat/token')).status).toBe(200);
  });

  it('asks who it is, for every route', async () => {
    const wanted = problem(401, 'not_signed_in', 'Sign in first.');
    for (const path of ['/chat/token', '/chat/api/spawn', '/chat/api/a/chat/ada/send']) {
      expect(await ask(server, path, { headers: { cookie: '' } })).toEqual(wanted);
    }
  });

  it.each([
    ['control', '{"verb":"archive"}', notThisVerb],
    ['control', '{"verb":"toString"}', notThisVerb],
    ['control', '{"verb":["interrupt"]}', noVerb],
    ['control', '[]', noVerb],
    ['control', '{"verb":"interrupt","x":1}', noVerb],
    ['send', '{"kind":"decision","call":"c1","approved":true}', noMessage],
    ['send', '{"kind":"stop","invocationId":"inv_1"}', noMessage],
    ['send', '{"kind":"result","content":[{"type":"text","text":"x"}]}', noMessage],
    ['send', '{"content":[{"type":"text","text":"x"}],"caller":{}}', noMessage],
    ['send', '{"content":[{"type":"image"}]}', noMessage],
    ['send', '{"content":[]}', noMessage],
    ['send', '{"content":"x"}', noMessage],
    ['send', '[]', noMessage],
    ['stop', '{}', noTurn],
    ['stop', '{"invocationId":"inv_1","kind":"forget"}', noTurn],
    ['withdraw', '{"invocationId":["inv_1"]}', noTurn],
    ['decision', '{"call":"c1"}', noDecision],
    ['decision', '{"call":"c1","approved":"yes"}', noDecision],
    ['decision', '{"call":"c1","approved":true,"kind":"message"}', noDecision],
    ['send', '', noJson],
    ['send', '\ufeff{}', noJson],
    ['send', 'hello', noJson],
  ])('refuses a body of %s: %s', async (name, body, wanted) => {
    expect(await ask(server, `/chat/api/a/chat/ada/${name}`, { body })).toEqual(wanted);
  });

  it.each([
    [{ type: 'chat', id: 'bob' }, notYours],
    [{ type: 'chat', id: 'ada/../bob' }, noSpawn],
    [{ type: 'chat', id: 'ada', parent: '/t/default/a/chat/bob' }, noSpawn],
    [{ type: 'chat', id: 'ada', workspaceRef: 'default/bob' }, noSpawn],
    [{ type: 'chat' }, noSpawn],
  ])('refuses a spawn: %j', async (body, wanted) => {
    const answered = await ask(server, '/chat/api/spawn', { body: JSON.stringify(body) });
    expect(answered).toEqual(wanted);
  });

  it('refuses a body that is too long, whether it says so or not', async () => {
    const wanted = problem(413, 'body_too_large', 'Send at most 65536 bytes.');
    const path = '/chat/api/a/chat/ada/send';
    const bodyOf = (length: number): string => {
      const whole = (text: string): string => JSON.stringify({ content: [{ type: 'text', text }] });
      return whole('x'.repeat(length - whole('').length));
    };
    const body = bodyOf(65_537);
    expect(await ask(server, path, { body })).toEqual(wanted);
    const headers = { 'transfer-encoding': 'chunked' };
    expect(await ask(server, path, { body, headers })).toEqual(wanted);
    // The next request is served.
    const fits = bodyOf(65_536);
    expect((await ask(server, path, { body: fits })).status).toBe(202);
  });
});

describe('the back end of a chat', () => {
  it('gives a body so much time', async () => {
    const server = await startChatServer(gateway.url, 'node', { bodyTimeoutMs: 50 });
    const slow = { body: '{"a":', isSlow: true, headers: { 'content-length': '1000' } };
    const wanted = problem(408, 'body_timeout', 'The body did not arrive in time.');
    expect(await ask(server, '/chat/api/a/chat/ada/send', slow)).toEqual(wanted);
    await server.stop();
  });

  it('counts the requests of each user for itself', async () => {
    const server = await startChatServer(gateway.url, 'node', {
      requestsPerMinute: 2,
      tokensPerMinute: 2,
    });
    const statuses: number[] = [];
    for (let turn = 0; turn < 3; turn++) statuses.push((await ask(server, '/chat/token')).status);
    expect(statuses).toEqual([200, 200, 429]);
    // A page that sends much still reads, and the other way round.
    const send = () => ask(server, '/chat/api/a/chat/ada/send', { body: HELLO });
    expect([(await send()).status, (await send()).status]).toEqual([202, 202]);
    const late = await send();
    expect(late).toEqual(
      problem(429, 'rate_limited', 'There are too many requests. Try again later.'),
    );
    // Half a minute for each request, less what these have taken.
    expect(late.headers['retry-after']).toMatch(/^(?:30|2\d)$/);
    expect((await ask(server, '/chat/token', { user: 'bob' })).status).toBe(200);
    await server.stop();
  });

  it('grants verbs and a part of the catalog only where the user has them', async () => {
    const catalog = { table: 'entities', where: "owner = 'ada'" };
    const server = await startChatServer(gateway.url, 'node', {
      authorize: (request) => userOf(request, { verbs: ['archive'], catalog }),
    });
    const { body } = await ask(server, '/chat/token', {
      body: '{"agents":["chat/ada"],"catalog":true}',
    });
    expect(decodeJwt((body as { token: string }).token)).toMatchObject({
      prefix: ['/streams/t/default/agents/chat/ada', '/shapes/v1/shape'],
      shape: catalog,
    });
    const control = (verb: string) =>
      ask(server, '/chat/api/a/chat/ada/control', { body: JSON.stringify({ verb }) });
    expect((await control('archive')).status).toBe(202);
    expect((await control('interrupt')).status).toBe(403);
    await server.stop();
  });

  it("gives what a page spawns the user's own parent", async () => {
    const parent = '/t/default/a/user/kim';
    const server = await startChatServer(gateway.url, 'node', {
      authorize: (request) => userOf(request, { parent }),
    });
    const body = JSON.stringify({ type: TYPE, id: 'kim' });
    expect((await ask(server, '/chat/api/spawn', { user: 'kim', body })).status).toBe(202);
    const { body: arrived } = await recording.firstRun('kim');
    expect(JSON.parse(arrived.toString('utf8'))).toEqual({ type: TYPE, id: 'kim', parent });
    await server.stop();
  });

  it('lets those decide whom it names, and writes who it was', async () => {
    const judged: unknown[] = [];
    const server = await startChatServer(gateway.url, 'node', {
      mayDecide: (call, subject) => {
        judged.push([call, subject]);
        return subject === 'boss';
      },
    });
    const decide = (user: string) =>
      ask(server, '/chat/api/a/chat/lee/decision', {
        user,
        body: '{"call":"c1","approved":false,"by":"boss","note":"too much"}',
      });
    // Neither owns the agent.
    expect(await decide('mallory')).toEqual(
      problem(403, 'decision_not_allowed', 'You may not decide this.'),
    );
    expect((await decide('boss')).status).toBe(202);
    const call = { agent: 'chat/lee', call: 'c1', approved: false, note: 'too much' };
    expect(judged).toEqual([
      [call, 'mallory'],
      [call, 'boss'],
    ]);
    const { body } = await recording.firstRun('lee');
    expect(JSON.parse(body.toString('utf8'))).toEqual({
      kind: 'decision',
      call: 'c1',
      approved: false,
      by: 'boss',
      note: 'too much',
    });
    await server.stop();
  });

  it('refuses to start with a secret that no gateway takes', () => {
    const client = new AgentGateway({ url: gateway.url, apiKey: API_KEY });
    const start = () =>
      startChatServer(gateway.url, 'node', { gateway: client, readTokenSecret: 'x' });
    return expect(start()).rejects.toThrow('readTokenSecret must have at least 32 bytes.');
  });

  it('answers 500 where authorize fails or names what is no agent, and tells only the log', async () => {
    const wanted = problem(500, 'internal_error', 'The back end of this page has a fault.');
    const secret = 'postgres://user:password@10.0.0.1/';
    const owns = (): boolean => true;
    for (const authorize of [
      () => Promise.reject(new Error(secret)),
      // Its read tokens would have no subject, and each would count by itself.
      () => ({ owns }) as unknown as ChatUser,
      () => ({ subject: '', owns }),
      () => ({ subject: 7, owns }) as unknown as ChatUser,
      () => ({ subject: 'ada' }) as unknown as ChatUser,
      () => ({ subject: 'ada', owns: () => Promise.reject(new Error(secret)) }),
      () => ({ subject: 'ada', owns, parent: '/t/other/a/user/ada' }),
      () => ({ subject: 'ada', owns, parent: 'user/ada' }),
    ]) {
      const server = await startChatServer(gateway.url, 'node', { authorize });
      const body = '{"agents":["chat/ada"]}';
      expect(await ask(server, '/chat/token', { body })).toEqual(wanted);
      expect(server.faults).toEqual([expect.any(Error)]);
      await server.stop();
    }
  });
});

/** What stands where the gateway should be, or before it. */
describe('the back end of a chat, whose gateway answers oddly', () => {
  const SECRET_TEXT = `upstream http://10.1.2.3:8080 says key ${API_KEY}`;
  const AWAY = 'The agents cannot be reached for now. Try again later.';
  const unavailable = problem(502, 'gateway_unavailable', AWAY);
  const draining = problem(503, 'draining', AWAY);
  const rejected = problem(400, 'runtime_rejected', 'The agent does not take this command.');
  const noType = problem(404, 'entity_type_not_registered', 'There is no agent of this type.');
  it.each([
    [401, { code: 'invalid_credentials', detail: SECRET_TEXT }, unavailable],
    [403, { code: 'scope_not_covered', detail: SECRET_TEXT }, unavailable],
    [500, SECRET_TEXT, unavailable],
    [202, SECRET_TEXT, unavailable],
    [302, SECRET_TEXT, unavailable],
    [400, { code: 'constructor', detail: SECRET_TEXT }, unavailable],
    [400, { code: 'runtime_rejected', detail: SECRET_TEXT }, rejected],
    [404, { code: 'entity_type_not_registered', detail: SECRET_TEXT }, noType],
    [503, { code: 'draining', detail: SECRET_TEXT }, draining],
  ])('passes no text of it on: %d %j', async (status, body, wanted) => {
    const odd = await startScriptedUpstream((_, response) => {
      response.writeHead(status, {
        location: 'http://10.1.2.3/',
        'x-secret': API_KEY,
        'retry-after': '3',
      });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    const server = await startChatServer(odd.url);
    const answered = await ask(server, '/chat/api/a/chat/ada/send', { body: HELLO });
    expect(answered).toEqual(wanted);
    expect(JSON.stringify(answered)).not.toMatch(/10\.1\.2\.3|x-secret/);
    expect(answered.headers['retry-after']).toBe(status === 503 ? '3' : undefined);
    // The page tries again by itself: two that retry are many.
    expect(odd.seen).toHaveLength(1);
    await server.stop();
    await odd.stop();
  });
});
