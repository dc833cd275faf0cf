import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AUTHORIZED } from '../support/gateway.ts';
import {
  AgentWorld,
  isKind,
  isReplyTo,
  text,
  told,
  wordsOf,
  type TimelineEvent,
} from './agent-world.ts';

const world = new AgentWorld({
  main: join(import.meta.dirname, '../../local/agents/main.ts'),
  env: { AGENT_WORD_DELAY_MS: '10' },
  port: 'AGENTS_PORT',
  listens: 'agents listening on ',
});

beforeAll(() => world.start());
afterAll(() => world.stop());

interface Accepted {
  url: string;
  streamUrl: string;
  replayed: boolean;
}

async function post(path: string, body: BodyInit, key?: string): Promise<Accepted> {
  const response = await fetch(world.gateway.url + path, {
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

const isWord = (index: number) => (event: TimelineEvent) =>
  event.kind === 'word' && event.index === index;
const readUntil = (type: string, id: string, isLast: (event: TimelineEvent) => boolean) =>
  world.readUntil(`${type}/${id}`, isLast);

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
    const read = await fetch(world.gateway.url + spawned.streamUrl, { headers: AUTHORIZED });
    expect(await read.json()).toEqual(events);
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
      { ...error('message'), requestId: 'r1' },
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
    await spawn('assistant', 'a1');
    await send('assistant', 'a1', 'count to 50');
    const early = await readUntil('assistant', 'a1', isWord(0));
    expect(early.filter(isKind('reply'))).toEqual([]);
    const events = await readUntil('assistant', 'a1', isKind('reply'));
    expectCounting(events, 50);
    expect(await world.rowOf('assistant/a1', 'idle')).toEqual({
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

  it('is archived in the middle of a reply, rejects what follows, and says so in its row', async () => {
    await spawn('assistant', 'archived');
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
    expect(await world.rowOf('assistant/archived', 'archived')).toMatchObject({
      id: 'archived',
      status: 'archived',
    });
  });

  it('spawns a child on request, which names its parent', async () => {
    await send('assistant', 'mother', 'spawn child echo daughter');
    const events = await readUntil('assistant', 'mother', isKind('reply'));
    const url = '/t/default/a/echo/daughter';
    const parent = '/t/default/a/assistant/mother';
    const done = events.filter(({ kind, state }) => kind === 'reply' || state === 'done');
    expect(told(done)).toEqual([
      { kind: 'tool', replyTo: 1, id: '1', name: 'spawn', state: 'done', output: { url }, url },
      { kind: 'reply', replyTo: 1, content: text(`I have a child of type echo now: ${url}`) },
    ]);
    expect(told(await readUntil('echo', 'daughter', isKind('spawned')))).toEqual([
      { kind: 'spawned', parent },
    ]);
    expect(await world.rowOf('echo/daughter', 'idle')).toMatchObject({ url, parent });
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
    world.beforeAnswer = async (_request, body) => {
      if (!body.includes('"kind":"word","replyTo":1,"index":2,')) return;
      tries.push(body);
      if (tries.length === 1) await world.agents.kill();
    };
    await send('assistant', 'killed-late', 'count to 100');
    await world.agents.exited;
    await world.startAgents();
    expectCounting(await readUntil('assistant', 'killed-late', isKind('reply')), 100);
    world.beforeAnswer = () => undefined;
    expect(tries).toHaveLength(2);
    // The time is from the journal.
    expect(tries[1]).toBe(tries[0]);
  });

  it('completes its timeline without gap or repeat after the gateway was away', async () => {
    await send('assistant', 'cut-off', 'count to 100');
    await readUntil('assistant', 'cut-off', isWord(1));
    await world.gateway.stop();
    // The agent has met the outage.
    await world.agents.waitForLine((line) => line.includes('/timeline: no answer'));
    await world.startGateway(world.gateway.port);
    const events = await readUntil('assistant', 'cut-off', isKind('reply'));
    expectCounting(events, 100);
  });
});
