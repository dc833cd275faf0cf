import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AgentGateway, conversation, type Answer } from '../../packages/client/src/index.ts';
import type { Conversation } from '../../packages/client/src/index.ts';
import { API_KEY } from '../support/gateway.ts';
import { modelAgentWorld } from './agent-world.ts';

const TYPE = 'asked-agent';
const world = modelAgentWorld(TYPE);

beforeAll(() => world.start());
afterAll(() => world.stop());

/** A process that asks: a client of its own, and the places from which it reads. */
function asker() {
  const places: (string | null)[] = [];
  const watching: typeof fetch = (input, init) => {
    const { pathname, searchParams } = new URL(input as string);
    const isRead = pathname.startsWith('/streams') && (init?.method ?? 'GET') === 'GET';
    if (isRead) places.push(searchParams.get('offset'));
    return fetch(input, init);
  };
  const gateway = new AgentGateway({ url: world.gateway.url, apiKey: API_KEY, fetch: watching });
  const ask = (id: string, message: string, options = {}): Answer =>
    gateway.agents.ask(`${TYPE}/${id}`, message, options);
  return { places, agents: gateway.agents, ask };
}

/** What was said, until it looks like this. */
async function saidUntil(
  id: string,
  isEnough: (said: Conversation) => boolean,
): Promise<Conversation> {
  let said = conversation([]);
  for await (const event of world.client.timeline(`${TYPE}/${id}`)) {
    said = conversation([event], said);
    if (isEnough(said)) break;
  }
  return said;
}

const errorOf = (answer: Answer): Promise<unknown> =>
  answer.text().then(
    (said) => Promise.reject(new Error(said)),
    (error: unknown) => error,
  );
const counted = (last: number): string =>
  Array.from({ length: last }, (_, index) => `${index + 1} `).join('');

describe('an agent of the kit that is asked', () => {
  // Whoever awaited an agent when both were deployed got an error, and the agent was asked twice.
  it('gives the same answer again after the death of all who took part in it', async () => {
    await asker().ask('again', 'count 1000').text();
    const mine = { idempotencyKey: 'mine' };
    const first = asker().ask('again', 'count 200 5', mine);
    for await (const { kind } of first) if (kind === 'word') break;
    await world.agents.kill();
    const { port } = new URL(world.gateway.url);
    await world.gateway.stop();
    await world.startGateway(Number(port));
    await world.startAgents();
    const { ask, places } = asker();
    const again = ask('again', 'count 200 5', mine);
    expect(await again.text()).toBe(counted(200));
    expect(places).not.toContain('-1');
    await asker().ask('again', 'count 2').text();
    const last = asker().ask('again', 'count 200 5', mine);
    expect(await last.reply()).toEqual(await again.reply());
    const { turns } = await saidUntil('again', ({ turns: all }) => all[2]?.state === 'done');
    expect(turns.map(({ message }) => message?.text)).toEqual([
      'count 1000',
      'count 200 5',
      'count 2',
    ]);
  });

  it('asks a person in the middle of its answer, whom nobody hurries', async () => {
    const answer = asker().ask('pays', 'pay 40', { timeoutMs: 20_000 });
    const asking = saidUntil('pays', ({ status }) => status === 'waiting');
    const text = answer.text();
    const [call] = (await asking).turns[0]?.tools ?? [];
    await world.rowOf(`${TYPE}/pays`, 'waiting');
    const { agents } = asker();
    await agents.decide(`${TYPE}/pays`, { call: String(call?.id), approved: true, by: 'ada' });
    expect(await text).toContain('"paid":40');
    const { turns, status } = await saidUntil(
      'pays',
      ({ turns: [turn] }) => turn?.state === 'done',
    );
    expect(status).toBe('idle');
    expect(turns[0]?.parts).toMatchObject([
      {
        type: 'tool',
        state: 'done',
        input: { amount: 40 },
        decision: { approved: true, by: 'ada' },
      },
      { type: 'text', text: expect.stringContaining('"paid":40') },
    ]);
  });

  it('stops the answer that is meant, and lets the others be', async () => {
    const { ask, agents } = asker();
    const [first, second, third] = [
      ask('stops', 'hang one'),
      ask('stops', 'count 2'),
      ask('stops', 'count 3'),
    ];
    await first.sent;
    await second.sent;
    const { invocationId } = await third.sent;
    const { queued } = await saidUntil('stops', (said) => said.queued.length === 2);
    expect(queued.map(({ ahead }) => ahead)).toEqual([1, 2]);
    await agents.withdraw(`${TYPE}/stops`, invocationId, { reason: 'by mistake' });
    await second.stop('not needed');
    await Promise.all([
      expect(errorOf(third)).resolves.toMatchObject({
        message: 'The message was withdrawn: by mistake',
        stoppedBy: { verb: 'withdraw' },
      }),
      expect(errorOf(second)).resolves.toMatchObject({
        message: 'The answer was stopped: not needed',
      }),
    ]);
    const { turns } = await saidUntil('stops', ({ turns: all }) => all[1]?.state === 'stopped');
    expect(turns[0]?.state).toBe('waiting');
    await first.stop();
    await expect(errorOf(first)).resolves.toMatchObject({ stoppedBy: { verb: 'stop' } });
  });

  it('says why it has not begun, and keeps the message', async () => {
    const { ask, agents } = asker();
    const hanging = ask('late', 'hang here');
    await hanging.sent;
    // In this time the agent must have written that it has the message, also on a busy machine.
    const options = { timeoutMs: 8_000 };
    const late = 'The agent did not begin to answer within 8000 ms: ';
    const paused = `${TYPE}/paused`;
    await agents.spawn({ type: TYPE, id: 'paused' });
    await agents.control(paused, 'pause');
    await world.rowOf(paused, 'paused');
    const errors = await Promise.all([
      errorOf(ask('late', 'count 2', options)),
      errorOf(ask('paused', 'count 2', options)),
    ]);
    // The kit takes a model that is silent for a failure.
    expect(
      errors.map((error) => (error as Error).message.replace(/; it is failing.*/, '.')),
    ).toEqual([`${late}1 other turn is before it.`, `${late}it is paused.`]);
    await Promise.all([hanging.stop(), agents.control(paused, 'resume')]);
    for (const id of ['late', 'paused']) {
      const { turns } = await saidUntil(id, ({ turns: all }) => all.at(-1)?.state === 'done');
      expect(turns.at(-1)?.text).toBe('1 2 ');
    }
  });

  it('tells its parts in order, and gives them away as lines', async () => {
    await asker().ask('parts', 'parts').text();
    const { turns } = await saidUntil('parts', ({ turns: [turn] }) => turn?.state === 'done');
    expect(turns).toMatchObject([
      {
        parts: [
          { type: 'reasoning', text: 'let me think' },
          { type: 'text', text: 'said' },
          { type: 'data', data: { chart: [1, 2] } },
        ],
        usage: { inputTokens: 6, outputTokens: 2, cost: 0.5 },
      },
    ]);
    const kinds: unknown[] = [];
    for await (const line of world.client.agents.export(`${TYPE}/parts`)) {
      kinds.push((JSON.parse(line) as { kind: unknown }).kind);
    }
    expect([kinds[0], kinds[1], kinds.at(-1)]).toEqual(['spawned', 'message', 'reply']);
  });

  it('has failed until its next good answer', async () => {
    const failure = await errorOf(asker().ask('ends', 'end'));
    expect(failure).toMatchObject({ code: 'failed' });
    const failed = await saidUntil('ends', ({ turns: [turn] }) => turn?.state === 'failed');
    expect(failed.status).toBe('failed');
    await world.rowOf(`${TYPE}/ends`, 'failed');
    await asker().ask('ends', 'count 2').text();
    const mended = await saidUntil('ends', ({ turns }) => turns[1]?.state === 'done');
    expect(mended.status).toBe('idle');
    await world.rowOf(`${TYPE}/ends`, 'idle');
  });
});
