import { describe, expect, it } from '@jest/globals';
import { AgentGateway, type AgentEvent, type Answer } from '../../packages/client/src/index.ts';
import { answeringAgent, type Locates } from '../support/answering-agent.ts';
import { forAllTests } from '../support/for-this-test.ts';
import { API_KEY, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { registerAgents, restateSettings } from '../support/restate.ts';

const TYPES: Record<Locates, string> = {
  place: 'again',
  end: 'again-end',
  nonsense: 'again-nonsense',
  'no place': 'again-no-place',
  silent: 'again-silent',
  unknown: 'again-unknown',
};
const history = forAllTests(() => startHistory({ longPollTimeoutMs: 1_000 }));
forAllTests(() => {
  const access = { gatewayUrl: '', streamsUrl: history.url, apiKey: API_KEY };
  return registerAgents(
    Object.entries(TYPES).map(([how, type]) => answeringAgent(type, access, how as Locates)),
  );
});
const gateway = forAllTests(() =>
  startTestGateway({ GATEWAY_HISTORY_URL: history.url, ...restateSettings() }),
);

/** A process that asks: a client of its own, and the places from which it reads. */
function asker() {
  const places: (string | null)[] = [];
  const watching: typeof fetch = (input, init) => {
    const { pathname, searchParams } = new URL(input as string);
    const isRead = pathname.startsWith('/streams') && (init?.method ?? 'GET') === 'GET';
    if (isRead) places.push(searchParams.get('offset'));
    return fetch(input, init);
  };
  const { agents } = new AgentGateway({ url: gateway.url, apiKey: API_KEY, fetch: watching });
  const ask = (agent: string, message: string, idempotencyKey: string, more = {}): Answer =>
    agents.ask(agent, message, { idempotencyKey, ...more });
  return { places, agents, ask };
}

async function kindsOf(answer: AsyncIterable<AgentEvent>): Promise<string[]> {
  const kinds: string[] = [];
  for await (const event of answer) kinds.push(event.kind);
  return kinds;
}

describe('a question that is asked again', () => {
  // A repetition waited in vain and said that nothing had been written, so that each deploy broke who waited for an agent.
  it('has the same answer, although others have asked since, and is not read from the start', async () => {
    const agent = `${TYPES.place}/finished`;
    const first = asker();
    expect(await first.ask(agent, 'say before', 'before').text()).toBe('before');
    const answer = first.ask(agent, 'say one two', 'mine');
    expect(await answer.text()).toBe('one two');
    for (const key of ['a', 'b']) await first.ask(agent, `say ${key}`, key).text();

    const { ask, places } = asker();
    const again = ask(agent, 'say one two', 'mine');
    expect(await again.text()).toBe('one two');
    expect(await kindsOf(again)).toEqual(['message', 'word', 'word', 'reply']);
    const [sent, resent] = await Promise.all([answer.sent, again.sent]);
    expect([resent.isReplay, resent.invocationId]).toEqual([true, sent.invocationId]);
    expect(places).not.toContain('-1');
    expect(await again.reply()).toEqual(await answer.reply());
  });

  it('has the rest of an answer that is under way, and stops it', async () => {
    const agent = `${TYPES.place}/under-way`;
    const leaving = asker().ask(agent, 'hold it is', 'mine');
    for await (const { kind } of leaving) if (kind === 'word') break;
    const again = asker().ask(agent, 'hold it is', 'mine');
    const kinds: string[] = [];
    for await (const event of again) {
      kinds.push(event.kind);
      if (event.kind === 'word' && event.index === 1) await again.stop('enough');
    }
    expect(kinds).toEqual(['message', 'word', 'word', 'reply']);
    await expect(leaving.text()).rejects.toMatchObject({ code: 'stopped', text: 'it is' });
  });

  it('has one answer for all who ask at once', async () => {
    const agent = `${TYPES.place}/at-once`;
    const answers = Array.from({ length: 6 }, () => asker().ask(agent, 'slow a b c', 'mine'));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(texts)).toEqual(new Set(['a b c']));
    const sent = await Promise.all(answers.map((answer) => answer.sent));
    expect(new Set(sent.map(({ invocationId }) => invocationId)).size).toBe(1);
  });

  it('fails again as the first did', async () => {
    const agent = `${TYPES.place}/failed`;
    const failure = { code: 'failed', message: 'The agent failed: no model' };
    await expect(asker().ask(agent, 'fail', 'mine').text()).rejects.toMatchObject(failure);
    await expect(asker().ask(agent, 'fail', 'mine').text()).rejects.toMatchObject(failure);
  });

  it.each(['end', 'nonsense', 'no place', 'silent'] as const)(
    'is found from the start, where the agent names no place or a wrong one: %s',
    async (how) => {
      const agent = `${TYPES[how]}/a`;
      expect(await asker().ask(agent, 'say one two', 'mine').text()).toBe('one two');
      const { ask, places } = asker();
      expect(await ask(agent, 'say one two', 'mine').text()).toBe('one two');
      expect(places).toContain('-1');
    },
  );

  it('is found, although something on the way took the word that it is a repetition', async () => {
    const agent = `${TYPES.place}/nameless`;
    expect(await asker().ask(agent, 'say one', 'before').text()).toBe('one');
    expect(await asker().ask(agent, 'say one two', 'mine').text()).toBe('one two');
    const taking: typeof fetch = async (input, init) => {
      const { status, headers: given, body } = await fetch(input, init);
      const headers = new Headers(given);
      headers.delete('idempotency-replayed');
      return new Response(status === 204 ? null : body, { status, headers });
    };
    const { agents } = new AgentGateway({ url: gateway.url, apiKey: API_KEY, fetch: taking });
    const again = agents.ask(agent, 'say one two', { idempotencyKey: 'mine' });
    expect(await again.text()).toBe('one two');
    expect((await again.sent).isReplay).toBe(false);
  });

  it('says so, where its time ends before the agent has said where the answer is', async () => {
    const agent = `${TYPES.silent}/late`;
    expect(await asker().ask(agent, 'say one', 'mine').text()).toBe('one');
    const late = asker().ask(agent, 'say one', 'mine', { timeoutMs: 500 });
    await expect(late.text()).rejects.toMatchObject({
      code: 'not_answered',
      message:
        'The agent did not begin to answer within 500 ms: it has not said where the answer to the earlier message is.',
    });
  });

  it('is found by its request, where the agent does not name its turns', async () => {
    const agent = `${TYPES.unknown}/a`;
    const named = { requestId: 'the-request' };
    expect(await asker().ask(agent, 'say one', 'mine', named).text()).toBe('one');
    expect(await asker().ask(agent, 'say one', 'mine', named).text()).toBe('one');
    const lost = asker().ask(agent, 'say one', 'mine', { timeoutMs: 1_000 });
    await expect(lost.text()).rejects.toMatchObject({ code: 'not_answered' });
  });
});

describe('the commands of a turn', () => {
  it('have bodies that name it', async () => {
    const bodies: unknown[] = [];
    const noting: typeof fetch = (input, init) => {
      bodies.push(JSON.parse(init?.body as string));
      return fetch(input, init);
    };
    const { agents } = new AgentGateway({ url: gateway.url, apiKey: API_KEY, fetch: noting });
    const agent = `${TYPES.place}/commands`;
    await agents.stop(agent, 'inv_1', { reason: 'enough' });
    await agents.withdraw(agent, 'inv_2');
    await agents.decide(agent, { call: 'x.1', approved: false, by: 'ada', note: 'no', input: 1 });
    const sent = await agents.decide(
      agent,
      { call: 'x.1', approved: true },
      { idempotencyKey: 'k', requestId: 'r' },
    );
    expect(sent).toMatchObject({ idempotencyKey: 'k', requestId: 'r' });
    expect(bodies).toEqual([
      { kind: 'stop', invocationId: 'inv_1', reason: 'enough' },
      { kind: 'withdraw', invocationId: 'inv_2' },
      { kind: 'decision', call: 'x.1', approved: false, by: 'ada', note: 'no', input: 1 },
      { kind: 'decision', call: 'x.1', approved: true },
    ]);
  });

  it.each([
    [{ call: 'x.1', approved: 'false' }, 'approved must be true or false.'],
    [{ call: '', approved: true }, 'call must be the id of a call.'],
  ])('refuse a decision that is none: %j', async (decision, message) => {
    const { agents } = asker();
    const deciding = agents.decide('a/b', decision as { call: string; approved: boolean });
    await expect(deciding).rejects.toThrow(new TypeError(message));
  });
});

describe('the export of an agent', () => {
  it('has each event as a line of JSON, and ends', async () => {
    const { agents, ask } = asker();
    const agent = `${TYPES.place}/export`;
    await ask(agent, 'say one', 'mine').text();
    const lines: string[] = [];
    for await (const line of agents.export(agent)) lines.push(line);
    expect(lines.every((line) => /^\{.*\}\n$/.test(line))).toBe(true);
    const stored = await fetch(`${history.url}/t/default/agents/${agent}/timeline`);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(await stored.json());
  });

  it('throws for an agent that has written nothing', async () => {
    const lines = asker().agents.export(`${TYPES.place}/nobody`);
    await expect(lines.next()).rejects.toMatchObject({ name: 'APIError', status: 404 });
  });
});
