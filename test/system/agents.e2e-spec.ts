import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCatalog, type Catalog } from '../support/catalog.ts';
import { startProcess, type RunningProcess } from '../../local/stack/process.ts';
import { API_KEY, AUTHORIZED, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startHistory, type RunningHistory } from '../support/history.ts';
import { restateUrls } from '../support/restate.ts';
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts';

const MAIN = join(import.meta.dirname, '../../local/agents/main.ts');

interface TimelineEvent {
  seq: number;
  at: string;
  kind: string;
  [name: string]: unknown;
}

// In memory: the file-backed store may show new data before it moves its own offset, and a reader
// then gets events twice (@durable-streams/server 0.3.7).
let history: RunningHistory;
let catalog: Catalog;
let gateway: TestGateway;
/** A proxy between the agents and the gateway. A test can drop a response here. */
let front: ScriptedUpstream;
let beforeAnswer: (body: string) => Promise<void> = () => Promise.resolve();
let agents: RunningProcess;
let agentsUrl: string;
let deploymentPath: string;

beforeAll(async () => {
  history = await startHistory({ longPollTimeoutMs: 1_000 });
  catalog = await startCatalog({ port: 0, databasePath: ':memory:' });
  gateway = await startGateway(0);
  front = await startScriptedUpstream((req, res, body) => void passOn(req, res, body));
  await startAgents(0);
  const registered = await fetch(`${gateway.url}/registry/deployments`, {
    method: 'POST',
    headers: { ...AUTHORIZED, 'content-type': 'application/json' },
    body: JSON.stringify({ uri: agentsUrl }),
  });
  expect(registered.status).toBe(201);
  deploymentPath = `/registry/deployments/${((await registered.json()) as { id: string }).id}`;
});

afterAll(async () => {
  await fetch(`${gateway.url}${deploymentPath}?force=true`, {
    method: 'DELETE',
    headers: AUTHORIZED,
  });
  await agents.stop();
  await front.stop();
  await gateway.stop();
  await catalog.stop();
  await history.stop();
});

function startGateway(port: number): Promise<TestGateway> {
  const { ingressUrl, adminUrl } = restateUrls();
  return startTestGateway({
    GATEWAY_PORT: String(port),
    GATEWAY_RUNTIME_INGRESS_URL: ingressUrl,
    GATEWAY_RUNTIME_ADMIN_URL: adminUrl,
    GATEWAY_HISTORY_URL: history.url,
    GATEWAY_SYNC_URL: catalog.url,
  });
}

async function startAgents(port: number): Promise<void> {
  agents = startProcess({
    name: 'agents',
    command: process.execPath,
    args: [MAIN],
    env: {
      PATH: process.env.PATH,
      AGENTS_PORT: String(port),
      GATEWAY_URL: front.url,
      GATEWAY_API_KEY: API_KEY,
      CATALOG_URL: catalog.url,
      AGENT_WORD_DELAY_MS: '10',
    },
  });
  const line = await agents.waitForLine((text) => text.startsWith('agents listening on '));
  agentsUrl = line.slice('agents listening on '.length);
}

async function passOn(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> {
  const { host: _, connection: _hop, 'content-length': _length, ...headers } = req.headers;
  try {
    const init = { method: req.method, headers: headers as Record<string, string> };
    const answer = await fetch(
      gateway.url + req.url,
      body.length > 0 ? { ...init, body: new Uint8Array(body) } : init,
    );
    const text = await answer.text();
    await beforeAnswer(body.toString());
    res.writeHead(answer.status, Object.fromEntries(producerHeaders(answer))).end(text);
  } catch {
    res.destroy();
  }
}

function producerHeaders({ headers }: Response): [string, string][] {
  return [...headers].filter(([name]) => name.startsWith('producer-'));
}

interface Accepted {
  url: string;
  streamUrl: string;
  replayed: boolean;
}

async function post(path: string, body: BodyInit, key?: string): Promise<Accepted> {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    body,
    headers: {
      ...AUTHORIZED,
      'x-request-id': 'r1',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
  });
  expect(response.status).toBe(202);
  const { url, streamUrl } = (await response.json()) as Accepted;
  return { url, streamUrl, replayed: response.headers.get('idempotency-replayed') === 'true' };
}

function spawn(type: string, id: string): Promise<Accepted> {
  return post('/api/spawn', JSON.stringify({ type, id }));
}

function send(type: string, id: string, body: BodyInit, key?: string): Promise<Accepted> {
  return post(`/api/a/${type}/${id}/send`, body, key);
}

function control(id: string, verb: string): Promise<Accepted> {
  return post(`/api/a/assistant/${id}/control`, JSON.stringify({ verb }));
}

/** Reads a timeline live from its beginning until an event matches. Checks that no event is missing. */
async function readUntil(
  type: string,
  id: string,
  matches: (event: TimelineEvent) => boolean,
): Promise<TimelineEvent[]> {
  const streamUrl = `${history.url}/t/default/agents/${type}/${id}/timeline`;
  const events: TimelineEvent[] = [];
  let query = 'offset=-1';
  while (!events.some(matches)) {
    const response = await fetch(`${streamUrl}?${query}`);
    const text = await response.text();
    // Not spawned yet: nothing to park on.
    if (response.status === 404) {
      await sleep(20);
      continue;
    }
    if (response.status === 200) events.push(...(JSON.parse(text) as TimelineEvent[]));
    query = `offset=${response.headers.get('stream-next-offset')}&live=long-poll`;
  }
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  return events;
}

/** Removes the parts that differ from run to run. */
function told(events: TimelineEvent[]): unknown[] {
  return events.map(({ seq: _seq, at: _at, ...event }) => event);
}

/** The text that the pieces of a reply make, whose numbers have no gap. */
function wordsOf(events: TimelineEvent[], replyTo: number): string {
  const words = events.filter((event) => event.kind === 'word' && event.replyTo === replyTo);
  expect(words.map(({ index }) => index)).toEqual(words.map((_, index) => index));
  return words.map(({ text }) => text).join('');
}

function numbers(limit: number): string {
  return Array.from({ length: limit }, (_, index) => index + 1).join(' ');
}

/** Checks the whole timeline of an assistant that counts. */
function expectCounting(events: TimelineEvent[], limit: number): void {
  expect(told(events.filter(({ kind }) => kind !== 'word'))).toEqual([
    { kind: 'spawned' },
    { kind: 'message', content: text(`count to ${limit}`), requestId: 'r1' },
    { kind: 'reply', replyTo: 1, content: text(numbers(limit)) },
  ]);
  expect(wordsOf(events, 1)).toBe(numbers(limit));
}

const isKind = (kind: string) => (event: TimelineEvent) => event.kind === kind;
const isReplyTo = (seq: number) => (event: TimelineEvent) =>
  event.kind === 'reply' && event.replyTo === seq;
const isWord = (index: number) => (event: TimelineEvent) =>
  event.kind === 'word' && event.index === index;
const text = (words: string) => [{ type: 'text', text: words }];

/** Follows an entity's row until it has the status. Electric's client is not used: it leaves a timer of a minute. */
async function rowOf(url: string, status: string): Promise<Record<string, unknown>> {
  const where = encodeURIComponent(`url = '${url}'`);
  let row: Record<string, unknown> = {};
  let position = 'offset=-1';
  while (row.status !== status) {
    const response = await fetch(
      `${gateway.url}/shapes/v1/shape?table=entities&where=${where}&${position}`,
      { headers: AUTHORIZED },
    );
    expect(response.status).toBe(200);
    for (const { value } of (await response.json()) as { value?: object }[]) {
      row = { ...row, ...value };
    }
    const { headers } = response;
    position = `handle=${headers.get('electric-handle')}&offset=${headers.get('electric-offset')}&live=true`;
  }
  return row;
}

describe('echo', () => {
  it('is spawned once, and answers a message with the same content', async () => {
    const spawned = await post('/api/spawn', '{"type":"echo","id":"e1","args":{"n":1}}');
    await post('/api/spawn', '{"type":"echo","id":"e1","args":{"n":2}}');
    await send('echo', 'e1', '{"kind":"message","content":[{"type":"text","text":"hi"}]}');
    const events = await readUntil('echo', 'e1', isKind('reply'));
    expect(told(events)).toEqual([
      { kind: 'spawned', args: { n: 1 } },
      { kind: 'message', content: text('hi'), requestId: 'r1' },
      { kind: 'reply', replyTo: 1, content: text('hi') },
    ]);
    const read = await fetch(gateway.url + spawned.streamUrl, { headers: AUTHORIZED });
    expect(await read.json()).toEqual(events);
  });

  it('is spawned by a message to an id that nobody spawned', async () => {
    await send('echo', 'unspawned', 'hi');
    expect(told(await readUntil('echo', 'unspawned', isKind('reply')))).toEqual([
      { kind: 'spawned' },
      { kind: 'message', content: text('hi'), requestId: 'r1' },
      { kind: 'reply', replyTo: 1, content: text('hi') },
    ]);
  });

  it('records an error for each message that it cannot read, and answers the next one', async () => {
    await spawn('echo', 'poisoned');
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    await send('echo', 'poisoned', '');
    await send('echo', 'poisoned', '{"kind":');
    await send('echo', 'poisoned', Uint8Array.of(0xff, 0x00));
    await send('echo', 'poisoned', `{"content":[{"type":"x","x":${deep}}]}`);
    await send('echo', 'poisoned', '"still here"');
    const error = (message: string) => ({ kind: 'error', message, requestId: 'r1' });
    expect(told(await readUntil('echo', 'poisoned', isKind('reply')))).toEqual([
      { kind: 'spawned' },
      error('the message is empty'),
      error('the message is broken JSON'),
      error('the message is neither JSON nor text in UTF-8'),
      error('the content of the message is nested too deep'),
      { kind: 'message', content: text('still here'), requestId: 'r1' },
      { kind: 'reply', replyTo: 5, content: text('still here') },
    ]);
  });

  // The gateway takes the message, and then refuses the event, which is a little longer.
  it('records an error for a message whose event is over the body cap', async () => {
    await send('echo', 'large', 'x'.repeat(1_048_570));
    await send('echo', 'large', 'small');
    const error = (kind: string) => ({
      kind: 'error',
      message: expect.stringContaining(`${kind} not recorded: 413 `),
    });
    expect(told(await readUntil('echo', 'large', isReplyTo(3)))).toEqual([
      { kind: 'spawned' },
      error('message'),
      { ...error('reply'), replyTo: 1 },
      { kind: 'message', content: text('small'), requestId: 'r1' },
      { kind: 'reply', replyTo: 3, content: text('small') },
    ]);
  });

  it('handles a repeated keyed message once', async () => {
    const first = await send('echo', 'keyed', 'hi', 'message-1');
    const second = await send('echo', 'keyed', 'hi', 'message-1');
    expect([first.replayed, second.replayed]).toEqual([false, true]);
    await send('echo', 'keyed', 'bye');
    const events = await readUntil('echo', 'keyed', isReplyTo(3));
    expect(told(events)).toEqual([
      { kind: 'spawned' },
      { kind: 'message', content: text('hi'), requestId: 'r1' },
      { kind: 'reply', replyTo: 1, content: text('hi') },
      { kind: 'message', content: text('bye'), requestId: 'r1' },
      { kind: 'reply', replyTo: 3, content: text('bye') },
    ]);
  });

  it('runs a repeated keyed spawn without id once, for the same entity', async () => {
    const first = await post('/api/spawn', '{"type":"echo"}', 'spawn-1');
    const second = await post('/api/spawn', '{"type":"echo"}', 'spawn-1');
    expect(second).toEqual({ ...first, replayed: true });
  });

  it('rejects messages once archived', async () => {
    await spawn('echo', 'archived');
    await post('/api/a/echo/archived/control', '{"verb":"archive","reason":"done"}');
    await send('echo', 'archived', 'hi');
    expect(told(await readUntil('echo', 'archived', isKind('refused')))).toEqual([
      { kind: 'spawned' },
      { kind: 'status', verb: 'archive', reason: 'done', status: 'archived', requestId: 'r1' },
      { kind: 'refused', reason: 'archived', requestId: 'r1' },
    ]);
  });
});

describe('assistant', () => {
  it('streams its reply, and keeps its row', async () => {
    const { url } = await spawn('assistant', 'a1');
    await send('assistant', 'a1', 'count to 50');
    const early = await readUntil('assistant', 'a1', isWord(0));
    expect(early.filter(isKind('reply'))).toEqual([]);
    const events = await readUntil('assistant', 'a1', isKind('reply'));
    expectCounting(events, 50);
    expect(await rowOf(url, 'idle')).toEqual({
      url: '/t/default/a/assistant/a1',
      type: 'assistant',
      id: 'a1',
      status: 'idle',
      parent: null,
      tenant: 'default',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d [\d:.]+\+00$/),
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\d [\d:.]+\+00$/),
    });
  });

  it('is interrupted in the middle of a reply, and answers the next message', async () => {
    await send('assistant', 'interrupted', 'count to 1000');
    await readUntil('assistant', 'interrupted', isWord(2));
    await control('interrupted', 'interrupt');
    const events = await readUntil('assistant', 'interrupted', isKind('reply'));
    const said = wordsOf(events, 1);
    expect(numbers(1_000).startsWith(said)).toBe(true);
    expect(told(events.slice(-2))).toEqual([
      { kind: 'status', status: 'idle', verb: 'interrupt', requestId: 'r1' },
      {
        kind: 'reply',
        replyTo: 1,
        content: text(said),
        stopped: { verb: 'interrupt', requestId: 'r1' },
      },
    ]);

    await send('assistant', 'interrupted', 'count to 2');
    const next = await readUntil('assistant', 'interrupted', isReplyTo(events.length));
    expect(told(next.slice(events.length))).toEqual([
      { kind: 'message', content: text('count to 2'), requestId: 'r1' },
      { kind: 'word', replyTo: events.length, index: 0, text: '1 2' },
      { kind: 'reply', replyTo: events.length, content: text('1 2') },
    ]);
  });

  it('says nothing while paused, and continues where it was when resumed', async () => {
    const { url } = await spawn('assistant', 'paused');
    await send('assistant', 'paused', 'count to 100');
    await readUntil('assistant', 'paused', isWord(2));
    await control('paused', 'pause');
    await send('assistant', 'paused', 'count to 1');
    const messages = (events: TimelineEvent[]) => events.filter(isKind('message'));
    const seen = await readUntil(
      'assistant',
      'paused',
      ({ kind, content }) => kind === 'message' && JSON.stringify(content).includes('count to 1"'),
    );
    await rowOf(url, 'paused');
    await control('paused', 'resume');
    const second = messages(seen)[1]?.seq ?? -1;
    const events = await readUntil('assistant', 'paused', isReplyTo(second));

    const pausedAt = events.findIndex(({ verb }) => verb === 'pause');
    const resumedAt = events.findIndex(({ verb }) => verb === 'resume');
    expect(told(events.slice(pausedAt, resumedAt + 1))).toEqual([
      { kind: 'status', verb: 'pause', status: 'paused', requestId: 'r1' },
      { kind: 'message', content: text('count to 1'), requestId: 'r1' },
      { kind: 'status', verb: 'resume', status: 'running', requestId: 'r1' },
    ]);
    expect(wordsOf(events, 1)).toBe(numbers(100));
    expect(wordsOf(events, second)).toBe('1');
  });

  it('is archived in the middle of a reply, rejects what follows, and says so in its row', async () => {
    const { url } = await spawn('assistant', 'archived');
    await send('assistant', 'archived', 'count to 1000');
    await readUntil('assistant', 'archived', isWord(0));
    await control('archived', 'archive');
    await send('assistant', 'archived', 'hi');
    const events = await readUntil('assistant', 'archived', isKind('refused'));
    expect(told(events.slice(-3))).toEqual([
      { kind: 'status', verb: 'archive', status: 'archived', requestId: 'r1' },
      {
        kind: 'reply',
        replyTo: 1,
        content: text(wordsOf(events, 1)),
        stopped: { verb: 'archive', requestId: 'r1' },
      },
      { kind: 'refused', reason: 'archived', requestId: 'r1' },
    ]);
    expect(await rowOf(url, 'archived')).toMatchObject({ id: 'archived', status: 'archived' });
  });

  it('spawns a child on request, which names its parent', async () => {
    await send('assistant', 'mother', 'spawn child echo daughter');
    const events = await readUntil('assistant', 'mother', isKind('reply'));
    const url = '/t/default/a/echo/daughter';
    const parent = '/t/default/a/assistant/mother';
    const done = events.filter(({ kind, state }) => kind === 'reply' || state === 'done');
    expect(told(done)).toEqual([
      { kind: 'tool', replyTo: 1, id: '1.1', name: 'spawn', state: 'done', output: { url }, url },
      { kind: 'reply', replyTo: 1, content: text(`I have a child of type echo now: ${url}`) },
    ]);
    expect(told(await readUntil('echo', 'daughter', isKind('spawned')))).toEqual([
      { kind: 'spawned', parent },
    ]);
    expect(await rowOf(url, 'idle')).toMatchObject({ url, parent });
  });

  it('says so when a child cannot be spawned', async () => {
    await send('assistant', 'childless', 'spawn child unicorn');
    const events = await readUntil('assistant', 'childless', isKind('reply'));
    expect(events.find(({ state }) => state === 'failed')).toMatchObject({
      name: 'spawn',
      error: expect.stringMatching(/^404 The runtime knows no such entity type/),
    });
    expect(wordsOf(events, 1)).toBe('I cannot spawn that.');
  });

  // The worst moment: the history store has the event, and neither the agent nor Restate knows.
  it('repeats no event when it is killed between an append and its answer', async () => {
    const tries: string[] = [];
    beforeAnswer = async (body) => {
      if (!body.includes('"kind":"word","replyTo":1,"index":2,')) return;
      tries.push(body);
      if (tries.length === 1) await agents.kill();
    };
    await send('assistant', 'killed-late', 'count to 100');
    await agents.exited;
    await startAgents(Number(new URL(agentsUrl).port));
    expectCounting(await readUntil('assistant', 'killed-late', isKind('reply')), 100);
    beforeAnswer = () => Promise.resolve();
    expect(tries).toHaveLength(2);
    // The time is from the journal.
    expect(tries[1]).toBe(tries[0]);
  });

  it('completes its timeline without gap or repeat when it is killed at any moment', async () => {
    await send('assistant', 'killed', 'count to 150');
    for (const index of [2, 4, 6]) {
      await readUntil('assistant', 'killed', isWord(index));
      await agents.kill();
      await startAgents(Number(new URL(agentsUrl).port));
    }
    const events = await readUntil('assistant', 'killed', isKind('reply'));
    expectCounting(events, 150);
  });

  it('completes its timeline without gap or repeat after the gateway was away', async () => {
    await send('assistant', 'cut-off', 'count to 100');
    await readUntil('assistant', 'cut-off', isWord(1));
    await gateway.stop();
    // The agent has met the outage.
    await agents.waitForLine((line) => line.includes('/timeline: no answer'));
    gateway = await startGateway(gateway.port);
    const events = await readUntil('assistant', 'cut-off', isKind('reply'));
    expectCounting(events, 100);
  });
});
