import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { queryRestate } from '../support/query-restate.ts';
import { until } from '../support/until.ts';
import { modelAgentWorld, isKind, text, told, wordsOf, type TimelineEvent } from './agent-world.ts';

const TYPE = 'turn-agent';
const world = modelAgentWorld(TYPE);

beforeAll(() => world.start());
afterAll(() => world.stop());

type Match = (event: TimelineEvent) => boolean;
const readUntil = (
  id: string,
  isLast: Match,
  onEvent?: (event: TimelineEvent) => Promise<void> | void,
) => world.readUntil(`${TYPE}/${id}`, isLast, onEvent);
const rowIs = (id: string, status: string) => world.rowOf(`${TYPE}/${id}`, status);
const send = (id: string, message: unknown) => world.client.agents.send(`${TYPE}/${id}`, message);
const paid = (amount: number) =>
  world.said.filter((line) => line.startsWith(`paid ${amount} `)).length;

const isReply = isKind('reply');
const isCall = (state: string) => (event: TimelineEvent) =>
  event.kind === 'tool' && event.state === state;
const nth =
  (count: number, isMeant: Match): Match =>
  (event) =>
    isMeant(event) && --count === 0;

async function waitingCall(id: string): Promise<string> {
  const events = await readUntil(id, isCall('waiting'));
  return String(events.at(-1)?.id);
}

const decide = (id: string, call: string, more: object) =>
  send(id, { kind: 'decision', call, ...more });

describe('a turn', () => {
  it('has the invocation id of its command as its name', async () => {
    const { invocationId } = await send('named', 'count 2');
    const events = await readUntil('named', isReply);
    expect(events[1]).toMatchObject({ kind: 'message', invocationId });
    expect(events[1]).not.toHaveProperty('ahead');
  });

  it('is stopped by its name, and no other is', async () => {
    const first = await send('stops', 'hang one');
    const second = await send('stops', 'count 2');
    const third = await send('stops', 'count 3');
    await world.hears('generate {"text":"hang one"');
    await send('stops', { kind: 'stop', invocationId: second.invocationId, reason: 'not needed' });
    await send('stops', { kind: 'stop', invocationId: first.invocationId });
    // It has ended.
    await send('stops', { kind: 'stop', invocationId: first.invocationId });
    const events = await readUntil('stops', nth(3, isReply));
    expect(told(events.filter(isReply))).toEqual([
      {
        kind: 'reply',
        replyTo: 2,
        content: [],
        stopped: { verb: 'stop', reason: 'not needed', requestId: expect.anything() as unknown },
      },
      {
        kind: 'reply',
        replyTo: 1,
        content: [],
        stopped: { verb: 'stop', requestId: expect.anything() as unknown },
      },
      { kind: 'reply', replyTo: 3, content: text('1 2 3 ') },
    ]);
    expect(events[3]).toMatchObject({ invocationId: third.invocationId, ahead: 2 });
  });

  it('is withdrawn while it waits, and not once it has begun', async () => {
    const first = await send('withdrawn', 'hang here');
    const second = await send('withdrawn', 'count 2');
    const withdraw = (invocationId: string) =>
      send('withdrawn', { kind: 'withdraw', invocationId });
    await withdraw(first.invocationId);
    await withdraw(second.invocationId);
    const events = await readUntil('withdrawn', isReply);
    expect(events.at(-1)).toMatchObject({ replyTo: 2, stopped: { verb: 'withdraw' } });
    await send('withdrawn', { kind: 'stop', invocationId: first.invocationId });
    await readUntil('withdrawn', nth(2, isReply));
  });

  it('can be located', async () => {
    await send('located', 'count 1000');
    const { invocationId } = await send('located', 'count 3');
    await readUntil('located', nth(2, isReply));
    await send('located', { kind: 'locate', invocationId });
    const events = await readUntil('located', isKind('located'));
    const { offset } = events.at(-1) as { offset?: string };
    const from = world.client.timeline<TimelineEvent>(`${TYPE}/located`, {
      ...(offset !== undefined && { from: offset }),
      live: false,
    });
    for await (const event of from) {
      expect(event).toMatchObject({ kind: 'message', invocationId });
      break;
    }
    await send('located', { kind: 'locate', invocationId: 'inv_unknown' });
    const all = await readUntil('located', nth(2, isKind('located')));
    expect(all.at(-1)).not.toHaveProperty('offset');
  });

  it('gives a turn whose invocation was killed a new one', async () => {
    await send('killed', 'count 300 5');
    let isKilled = false;
    const events = await readUntil('killed', isReply, async (event) => {
      if (event.kind !== 'word' || isKilled) return;
      isKilled = true;
      const runs = await world.client.invocations.list({ agent: `${TYPE}/killed` });
      const run = runs.find(({ target }) => target === `${TYPE}Turn/run`);
      await world.client.invocations.kill(String(run?.id));
    });
    const last = events.at(-1) as { content?: unknown };
    expect(last.content).toEqual(text(wordsOf(events, 1)));
    expect(wordsOf(events, 1).split(' ')).toHaveLength(301);
  });
});

describe('a tool that needs a yes', () => {
  it('waits in the row and on the timeline, and runs after it', async () => {
    await send('pays', 'pay 40');
    const call = await waitingCall('pays');
    await rowIs('pays', 'waiting');
    expect(paid(40)).toBe(0);
    await decide('pays', call, { approved: true, by: 'ada', note: 'fine' });
    const events = await readUntil('pays', isReply);
    const input = { amount: 40 };
    const event = { kind: 'tool', replyTo: 1, id: '1', name: 'pay' };
    expect(told(events).slice(2, -2)).toEqual([
      { ...event, state: 'waiting', input },
      {
        kind: 'decision',
        replyTo: 1,
        call,
        approved: true,
        by: 'ada',
        note: 'fine',
        requestId: expect.anything() as unknown,
      },
      { ...event, state: 'called' },
      { ...event, state: 'done', output: { paid: 40 } },
    ]);
    const result = {
      type: 'tool',
      name: 'pay',
      modelId: 'call_0',
      input,
      decision: { approved: true, by: 'ada', note: 'fine' },
      output: { paid: 40 },
    };
    const [, words] = /^paid: (.*)$/.exec(wordsOf(events, 1)) ?? [];
    expect(JSON.parse(words ?? '')).toEqual([result]);
    expect(paid(40)).toBe(1);
    await rowIs('pays', 'idle');
  });

  it('runs without one where none is needed', async () => {
    await send('small', 'pay 5');
    const events = await readUntil('small', isReply);
    expect(events.filter(isCall('waiting'))).toEqual([]);
    expect(paid(5)).toBe(1);
  });

  it('tells the model of a no', async () => {
    await send('denied', 'pay 41');
    const call = await waitingCall('denied');
    await decide('denied', call, { approved: false, by: 'bob', note: 'too much' });
    const events = await readUntil('denied', isReply);
    expect(events.some(isCall('denied'))).toBe(true);
    expect(wordsOf(events, 1)).toContain('"error":"denied by a person: too much"');
    expect(paid(41)).toBe(0);
  });

  it('takes the first decision, and tells the second one', async () => {
    await send('twice', 'pay 42');
    const call = await waitingCall('twice');
    await Promise.all([
      decide('twice', call, { approved: true, by: 'ada' }),
      decide('twice', call, { approved: true, by: 'ada' }),
    ]);
    await readUntil('twice', isKind('refused'));
    const events = await readUntil('twice', isReply);
    const late = events.find(isKind('refused'));
    expect(String(late?.reason)).toMatch(/^the call is decided already, by ada$|^no call/);
    expect(paid(42)).toBe(1);
  });

  it.each<[string, object, string, string]>([
    ['no call', { call: 'nope.1', approved: true }, 'refused', 'no call nope.1 waits'],
    ['no boolean', { call: 'x', approved: 'yes' }, 'error', 'the decision needs approved'],
    ['no approval', { call: 'x' }, 'error', 'the decision needs approved'],
  ])('changes nothing by a decision with %s', async (_, fields, kind, words) => {
    const id = `wrong-${kind}-${Object.keys(fields).length}`;
    await send(id, 'pay 43');
    await waitingCall(id);
    await send(id, { kind: 'decision', ...fields });
    const events = await readUntil(id, isKind(kind));
    expect(JSON.stringify(events.at(-1))).toContain(words);
    expect(paid(43)).toBe(0);
  });

  it('judges the input that an approver changed', async () => {
    await send('changed', 'pay 44');
    const call = await waitingCall('changed');
    await decide('changed', call, { approved: true, input: { amount: 45 } });
    await readUntil('changed', isReply);
    expect([paid(44), paid(45)]).toEqual([0, 1]);

    await send('changed', 'pay 44');
    const next = await readUntil('changed', nth(2, isCall('waiting')));
    await decide('changed', String(next.at(-1)?.id), { approved: true, input: { amount: 'all' } });
    const events = await readUntil('changed', nth(2, isReply));
    expect(JSON.stringify(events.at(-2))).toContain('amount: must be a number');
  });

  it('runs nothing where its approval cannot be judged', async () => {
    await send('unsure', 'pay 13');
    const events = await readUntil('unsure', isReply);
    expect(events.some(isCall('failed'))).toBe(true);
    expect(wordsOf(events, 1)).toContain('whether the call needs an approval cannot be said');
    expect(paid(13)).toBe(0);
  });

  it('is given up with its turn', async () => {
    const { invocationId } = await send('stopped-wait', 'pay 46');
    const call = await waitingCall('stopped-wait');
    await send('stopped-wait', { kind: 'stop', invocationId });
    await decide('stopped-wait', call, { approved: true });
    const events = await readUntil('stopped-wait', isKind('refused'));
    expect(events.at(-1)?.reason).toBe(`no call ${call} waits for a decision`);
    await rowIs('stopped-wait', 'idle');
    expect(paid(46)).toBe(0);
  });

  it('is decided while the agent is paused, and runs when it resumes', async () => {
    await send('paused-wait', 'pay 47');
    const call = await waitingCall('paused-wait');
    await world.client.agents.control(`${TYPE}/paused-wait`, 'pause');
    await decide('paused-wait', call, { approved: true });
    await readUntil('paused-wait', isKind('decision'));
    expect(paid(47)).toBe(0);
    await world.client.agents.control(`${TYPE}/paused-wait`, 'resume');
    await readUntil('paused-wait', isReply);
    expect(paid(47)).toBe(1);
  });

  it('is one of several calls of a step, of which the others run', async () => {
    await send('both', 'both Rome');
    const call = await waitingCall('both');
    const done = await readUntil('both', isCall('done'));
    expect(done.at(-1)).toMatchObject({ name: 'weather' });
    expect(done.at(-1)?.id).not.toBe(call);
    await decide('both', call, { approved: true });
    const events = await readUntil('both', isReply);
    expect(wordsOf(events, 1)).toBe('later [{"paid":50},{"city":"Rome","degrees":21}]');
    expect(paid(50)).toBe(1);
  });
});

describe('a tool that is an agent', () => {
  it('waits for the reply of the child', async () => {
    await send('mother', 'child to daughter count 3');
    const events = await readUntil('mother', isReply);
    const url = `/t/default/a/${TYPE}/daughter`;
    const event = { kind: 'tool', replyTo: 1, id: '1', name: 'helper' };
    expect(told(events).slice(2)).toEqual([
      { ...event, state: 'called', input: 'to daughter count 3' },
      { ...event, state: 'called', url },
      { ...event, state: 'done', url, output: '1 2 3 ' },
      { kind: 'word', replyTo: 1, index: 0, text: 'it said ["1 2 3 "]' },
      { kind: 'reply', replyTo: 1, content: text('it said ["1 2 3 "]') },
    ]);
    const [born, asked] = await readUntil('daughter', isReply);
    expect(born).toMatchObject({ parent: `/t/default/a/${TYPE}/mother` });
    expect(asked).toMatchObject({ caller: `/t/default/a/${TYPE}/mother` });
  });

  it.each([
    ['fails', 'end', 'failed: the agent failed'],
    ['is unknown', 'unknown', 'failed: the agent gave a part of an answer that is not known'],
  ])('tells the model where the child %s', async (name, message, words) => {
    const id = `mother-${name.replace(' ', '-')}`;
    await send(id, `child to ${id}-child ${message}`);
    const events = await readUntil(id, isReply);
    expect(wordsOf(events, 1)).toContain(words);
  });

  it('tells the model where the child is archived', async () => {
    await send('old', 'count 1');
    await world.client.agents.control(`${TYPE}/old`, 'archive');
    await send('mother-old', 'child to old count 2');
    const events = await readUntil('mother-old', isReply);
    expect(wordsOf(events, 1)).toContain('refused the message: archived');
  });

  it('refuses an agent that waits for its caller', async () => {
    await send('loop', 'child to loop count 1');
    const events = await readUntil('loop', isReply);
    expect(wordsOf(events, 1)).toContain('waits for this answer, so it would never reply');
    await send('loop-a', 'child to loop-b child to loop-a count 1');
    const more = await readUntil('loop-a', isReply);
    expect(wordsOf(more, 1)).toContain('waits for this answer');
  });

  it('refuses a chain that is too long', async () => {
    const chain = Array.from({ length: 17 }, (_, index) => `child to deep-${index} `).join('');
    await send('deep', `${chain}count 1`);
    const events = await readUntil('deep', isReply);
    expect(wordsOf(events, 1)).toContain('more than 16 agents would wait for each other');
  });

  it('is stopped with the turn that waits for it, and nothing else of the child is', async () => {
    await send('busy', 'count 300 5');
    const { invocationId } = await send('boss', 'child to busy hang for boss');
    await readUntil('boss', (event) => event.kind === 'tool' && event.url !== undefined);
    await readUntil('busy', nth(2, isKind('message')));
    await send('boss', { kind: 'stop', invocationId });
    const events = await readUntil('busy', nth(2, isReply));
    const replies = events.filter(isReply);
    expect(replies.find(({ stopped }) => stopped)).toMatchObject({ stopped: { verb: 'stop' } });
    expect(replies.filter(({ stopped }) => !stopped)).toHaveLength(1);
  });
});

describe('a tool', () => {
  it('knows where it is', async () => {
    await world.client.agents.spawn({ type: TYPE, id: 'placed', args: { style: 'dry' } });
    await send('placed', 'where');
    const events = await readUntil('placed', isReply);
    expect(JSON.parse(wordsOf(events, 1))).toEqual({
      url: `/t/default/a/${TYPE}/placed`,
      tenant: 'default',
      type: TYPE,
      id: 'placed',
      args: { style: 'dry' },
      number: 1,
    });
  });

  it('reminds its agent, unless the reminder is withdrawn', async () => {
    await send('reminded', 'remind 500 3');
    const events = await readUntil('reminded', nth(2, isReply));
    expect(wordsOf(events, Number(events.at(-1)?.replyTo))).toBe('1 2 3 ');

    await send('withdraws', 'remind 3600000 3');
    const told = await readUntil('withdraws', isReply);
    const [, reminder] = /^reminder "(inv_\w+)"$/.exec(wordsOf(told, 1)) ?? [];
    await send('withdraws', { kind: 'withdraw', invocationId: reminder });
    await send('withdraws', 'count 1');
    await readUntil('withdraws', nth(2, isReply));
    const left = await world.client.invocations.list({ agent: `${TYPE}/withdraws` });
    expect(left.filter(({ status }) => status === 'scheduled')).toEqual([]);
  });
});

describe('generate', () => {
  it('may give reasoning, data and usage', async () => {
    await send('parts', 'parts');
    const events = await readUntil('parts', isReply);
    expect(told(events).slice(2)).toEqual([
      { kind: 'reasoning', replyTo: 1, text: 'let me think' },
      { kind: 'word', replyTo: 1, index: 0, text: 'said' },
      { kind: 'data', replyTo: 1, data: { chart: [1, 2] } },
      {
        kind: 'reply',
        replyTo: 1,
        content: text('said'),
        usage: { inputTokens: 6, outputTokens: 2, cost: 0.5 },
      },
    ]);
  });

  it('ends the turn at once with a part that is not known, which the row says until the next reply', async () => {
    await send('unknown', 'unknown');
    const events = await readUntil('unknown', isKind('error'));
    expect(events.at(-1)?.message).toBe('the agent gave a part of an answer that is not known');
    await rowIs('unknown', 'failed');
    await send('unknown', 'count 1');
    await readUntil('unknown', isReply);
    await rowIs('unknown', 'idle');
  });

  it('is called again where the model sends nothing', async () => {
    await send('silent', 'silent');
    const events = await readUntil('silent', isReply);
    expect(events.filter(({ status }) => status === 'failing')).toHaveLength(1);
    expect(wordsOf(events, 1)).toBe('awake');
  });
});

describe('a failure', () => {
  const failureOf = async (id: string) =>
    (await world.client.invocations.failures({ agent: `${TYPE}/${id}` }))[0];

  it('is known to operators with its cause, while it lasts and after it, until the next good reply', async () => {
    await send('fails', 'fail 3');
    await readUntil('fails', (event) => event.attempt === 2);
    expect(await failureOf('fails')).toMatchObject({
      agent: `${TYPE}/fails`,
      state: 'failing',
      reason: expect.stringContaining('the model is away') as unknown,
    });
    const events = await readUntil('fails', isReply);
    expect(JSON.stringify(events)).not.toContain('is away');
    expect(await failureOf('fails')).toBeUndefined();

    await send('fails', 'end');
    await readUntil('fails', isKind('error'));
    await until('it is known', async () => (await failureOf('fails')) !== undefined);
    expect(await failureOf('fails')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('not today') as unknown,
    });
    await send('fails', 'count 1');
    await readUntil('fails', nth(2, isReply));
    await until('it is over', async () => (await failureOf('fails')) === undefined);
  });
});

describe('an agent that is forgotten', () => {
  const query = (text: string) => () => queryRestate(world.gateway.url, world.authorized, text);

  it('is gone with its timeline, row, state and journals, and refuses what comes', async () => {
    await send('gone', 'count 3');
    await send('gone', 'child to gone-child count 2');
    await send('gone', 'pay 48');
    await waitingCall('gone');
    const url = `/t/default/a/${TYPE}/gone`;
    const child = `/t/default/a/${TYPE}/gone-child`;
    const receipt = await world.client.agents.forget(`${TYPE}/gone`, { children: true });
    expect(receipt).toEqual({
      agent: url,
      at: expect.anything() as unknown,
      timeline: 'deleted',
      row: 'deleted',
      children: [child],
      invocations: expect.anything() as unknown,
      remaining: [],
    });
    for (const id of ['gone', 'gone-child']) {
      const timeline = `${world.gateway.url}/streams/t/default/agents/${TYPE}/${id}/timeline`;
      await until(`the timeline of ${id} is gone`, async () => {
        const response = await fetch(timeline, { method: 'HEAD', headers: world.authorized });
        return response.status === 404;
      });
    }
    const { invocationId } = await send('gone', 'count 1');
    const rowsOf = query(`SELECT status FROM sys_invocation WHERE id = '${invocationId}'`);
    await until('the command has ended', async () => (await rowsOf())[0]?.status === 'completed');
    const state = await query(
      `SELECT key FROM state WHERE service_name = '${TYPE}' AND service_key = 'gone'`,
    )();
    expect(state).toEqual([{ key: 'entity' }]);
    // It may be repeated.
    expect(await world.client.agents.forget(`${TYPE}/gone`)).toMatchObject({ at: receipt.at });
  });

  it('left no text of messages in what Restate keeps of ended turns', async () => {
    await send('secretive', 'count 3 please-keep-quiet');
    await readUntil('secretive', isReply);
    const runs = query(
      `SELECT id, completion_result FROM sys_invocation WHERE target = '${TYPE}Turn/run' AND starts_with(invoked_by_target, '${TYPE}/secretive/')`,
    );
    await until(
      'the turn has ended',
      async () => (await runs())[0]?.completion_result === 'success',
    );
    const [run] = await runs();
    expect(await query(`SELECT * FROM sys_journal WHERE id = '${String(run?.id)}'`)()).toEqual([]);
  });
});
