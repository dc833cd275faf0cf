import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { queryRestate } from '../support/query-restate.ts';
import { until } from '../support/until.ts';
import { modelAgentWorld, isKind, wordsOf, type TimelineEvent } from './agent-world.ts';

const TYPE = 'racing-agent';
const world = modelAgentWorld(TYPE);

beforeAll(() => world.start());
afterAll(() => world.stop());
afterEach(() => {
  world.beforeAnswer = () => undefined;
  world.beforeRequest = () => undefined;
});

type Match = (event: TimelineEvent) => boolean;
const readUntil = (id: string, isLast: Match) => world.readUntil(`${TYPE}/${id}`, isLast);
const send = (id: string, message: unknown) => world.client.agents.send(`${TYPE}/${id}`, message);

const isReply = isKind('reply');
const isCall =
  (name: string, state: string): Match =>
  (event) =>
    event.kind === 'tool' && event.name === name && event.state === state;

/** Has the answer to the first request that matches wait. */
function hold(
  isMeant: (path: string, body: string) => boolean,
  isOver: () => Promise<unknown>,
): void {
  let isHeld = false;
  world.beforeAnswer = ({ url = '' }, body) => {
    if (isHeld || !isMeant(url, body)) return undefined;
    isHeld = true;
    return isOver();
  };
}

describe('a child', () => {
  // The invocation noted the call as it knew it, over the result, and the turn never ended.
  it('may reply before its parent knows that it was asked', async () => {
    hold(
      (_, body) => body.includes('"caller"'),
      () => readUntil('quick-parent', isCall('helper', 'done')),
    );
    await send('quick-parent', 'child to quick-child count 3');
    const events = await readUntil('quick-parent', isReply);
    expect(wordsOf(events, 1)).toBe('it said ["1 2 3 "]');
    expect(events.filter(isCall('helper', 'done'))).toHaveLength(1);
  });

  // The stop found nothing to stop, and the child then worked for nobody.
  it('is not begun by a message that its stop has overtaken', async () => {
    const stop = Promise.withResolvers<void>();
    world.beforeAnswer = ({ headers }) => {
      if (String(headers['idempotency-key']).startsWith('stop ')) stop.resolve();
    };
    const asked = Promise.withResolvers<void>();
    world.beforeRequest = (_, body) => {
      if (!body.includes('"caller"')) return undefined;
      asked.resolve();
      return stop.promise;
    };
    const { invocationId } = await send('hasty', 'child to overtaken hang here');
    await asked.promise;
    await send('hasty', { kind: 'stop', invocationId });
    await readUntil('hasty', isReply);
    await stop.promise;
    await send('overtaken', 'count 2');
    const events = await readUntil('overtaken', isReply);
    expect(events.map(({ kind }) => kind)).toEqual(['spawned', 'message', 'word', 'reply']);
  });

  // Another one was asked, whose reply the call did not wait for.
  it('is the same one where it is asked again, also where its id is another one each time', async () => {
    const asked: string[] = [];
    const again = Promise.withResolvers<void>();
    world.beforeRequest = async ({ url = '' }, body) => {
      // The child's event of the message has its caller, too.
      if (!body.includes('"caller"') || !url.endsWith('/send')) return;
      asked.push(url);
      if (asked.length > 1) return again.resolve();
      const runs = await world.client.invocations.list({ agent: `${TYPE}/anybodys` });
      const run = runs.find(({ target }) => target === `${TYPE}Turn/run`);
      await world.client.invocations.kill(String(run?.id));
      await again.promise;
    };
    await send('anybodys', 'anybody');
    const events = await readUntil('anybodys', isReply);
    expect(wordsOf(events, 1)).toBe('it said ["1 "]');
    expect(new Set(asked).size).toBe(1);
  });

  // Its turn ended, but not by a stop: the child then worked for nobody.
  it.each<[string, (parent: string) => Promise<unknown>]>([
    [
      'is cancelled',
      async (parent) => {
        await readUntil(parent, isCall('hang', 'called'));
        const runs = await world.client.invocations.list({ agent: `${TYPE}/${parent}` });
        const run = runs.find(({ target }) => target === `${TYPE}Turn/run`);
        await world.client.invocations.cancel(String(run?.id));
      },
    ],
    ['is forgotten', (parent) => world.client.agents.forget(`${TYPE}/${parent}`)],
  ])('is stopped where its parent %s', async (how, end) => {
    const id = how.replace(' ', '-');
    await send(`parent-${id}`, `pair child-${id}`);
    await readUntil(`child-${id}`, isKind('message'));
    await end(`parent-${id}`);
    const events = await readUntil(`child-${id}`, isReply);
    expect(events.at(-1)).toMatchObject({ stopped: { verb: 'stop' } });
  });
});

describe('what JSON cannot hold', () => {
  // Restate could not store the step, and ran it again at every attempt; other parts came as events without data.
  it.each([
    ['data bigint', 'data'],
    ['data function', 'data'],
    ['data circle', 'data'],
    ['input bigint', 'the input of where'],
    ['input function', 'the input of where'],
  ])('ends the turn as %s of an answer', async (odd, what) => {
    const id = odd.replace(' ', '-');
    await send(id, `odd ${odd}`);
    const events = await readUntil(id, isKind('error'));
    expect(events.at(-1)?.message).toBe(`the agent gave ${what} that JSON cannot hold`);
    expect(events.map(({ kind }) => kind)).toEqual(['spawned', 'message', 'error']);
  });

  it('fails the call as the message to a child', async () => {
    await send('odd-message', 'odd message bigint');
    const events = await readUntil('odd-message', isReply);
    expect(wordsOf(events, 1)).toContain('the message to the agent cannot be made');
  });
});

describe('a message whose event is over the body cap', () => {
  // It was answered though the timeline said that it was not recorded, and its sender did not find that by its name.
  it('is told to have failed by its name, and is not answered', async () => {
    const large = `count 2 ${'x'.repeat(1_048_560)}`;
    const { invocationId } = await send('large', large);
    await send('large', 'count 3');
    const events = await readUntil('large', isReply);
    expect(events.map(({ kind }) => kind)).toEqual([
      'spawned',
      'error',
      'message',
      'word',
      'reply',
    ]);
    expect(events[1]).toMatchObject({ invocationId });
    expect(String(events[1]?.message)).toMatch(/^message not recorded: 413 /);
    expect(events.at(-1)).toMatchObject({ replyTo: 2 });
  });
});

describe('a turn whose invocation and watcher were both killed', () => {
  // Each later command asked for the same watcher, which had ended.
  it('continues after a later command', async () => {
    await send('unwatched', 'hang');
    await world.hears('generate {"text":"hang"');
    // The library's own list leaves watchers out.
    const query = `SELECT id, target FROM sys_invocation WHERE status <> 'completed' AND starts_with(invoked_by_target, '${TYPE}/unwatched/')`;
    // The watcher begins after the invocation that answers.
    const parts = ['watch', 'run'].map((method) => `${TYPE}Turn/${method}`);
    let found: string[] = [];
    await until('both are there', async () => {
      const rows = await queryRestate<{ id: string; target: string }>(
        world.gateway.url,
        world.authorized,
        query,
      );
      found = parts.flatMap((part) => rows.find(({ target }) => target === part)?.id ?? []);
      return found.length === parts.length;
    });
    for (const id of found) await world.client.invocations.kill(id);
    const runs = async () => {
      const left = await world.client.invocations.list({ agent: `${TYPE}/unwatched` });
      return left.filter(({ target }) => target === `${TYPE}Turn/run`).length;
    };
    expect(await runs()).toBe(0);
    await until('another invocation answers', async () => {
      await send('unwatched', { kind: 'locate', invocationId: 'inv_1' });
      return (await runs()) > 0;
    });
  });
});

describe('an agent whose timeline was closed', () => {
  // Its row said that it was idle, and every message was accepted and lost.
  it('has failed, which its row says', async () => {
    await send('closed', 'count 1');
    await readUntil('closed', isReply);
    const timeline = `${world.gateway.url}/streams/t/default/agents/${TYPE}/closed/timeline`;
    const headers = { ...world.authorized, 'stream-closed': 'true' };
    expect((await fetch(timeline, { method: 'POST', headers })).status).toBe(204);
    await send('closed', 'count 2');
    await world.rowOf(`${TYPE}/closed`, 'failed');
  });
});

describe('a name that every object has', () => {
  // It was taken for the invocation of a reminder, and every later message of the agent waited behind the failing command.
  it.each(['constructor', '__proto__', 'toString'])('%s withdraws nothing', async (name) => {
    const id = `named-${name}`;
    await send(id, 'remind 3600000 3');
    await readUntil(id, isReply);
    for (const kind of ['withdraw', 'stop', 'locate']) await send(id, { kind, invocationId: name });
    await send(id, { kind: 'decision', call: name, approved: true });
    await send(id, { content: 'count 2', reminder: name });
    const events = await readUntil(id, (event) => isReply(event) && event.replyTo !== 1);
    expect(wordsOf(events, Number(events.at(-1)?.replyTo))).toBe('1 2 ');
  });
});

describe('a wait', () => {
  // The call was told to have failed while its tool ran, which then had paid.
  it('has no limit any more once a person has decided, however long the tool takes', async () => {
    const agent = `${TYPE}/approved-slow`;
    const scheduled = async () =>
      (await world.client.invocations.list({ agent })).filter(
        ({ status }) => status === 'scheduled',
      );
    hold(
      (path) => path === '/held',
      () => until('the limit has passed', async () => (await scheduled()).length === 0),
    );
    await send('approved-slow', 'held');
    const waiting = await readUntil('approved-slow', isCall('held', 'waiting'));
    expect(await scheduled()).toHaveLength(1);
    await send('approved-slow', { kind: 'decision', call: waiting.at(-1)?.id, approved: true });
    const events = await readUntil('approved-slow', isReply);
    expect(events.filter(({ kind }) => kind === 'tool').map(({ state }) => state)).toEqual([
      'waiting',
      'called',
      'done',
    ]);
    expect(wordsOf(events, 1)).toBe('held: [404]');
  });
});
