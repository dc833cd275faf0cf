import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { HttpAgent, type RunAgentParameters } from '@ag-ui/client';
import type { Interrupt, Message } from '@ag-ui/core';
import { describe, expect, it } from '@jest/globals';
import { TerminalError } from '@restatedev/restate-sdk';
import { agUiBackEnd } from '../../packages/ag-ui/src/index.ts';
import { defineAgent } from '../../packages/client/src/agent/index.ts';
import { AgentGateway, conversation, type AgentEvent, type Turn } from '@agent-gateway/client';
import { forAllTests } from '../support/for-this-test.ts';
import { API_KEY, startTestGateway } from '../support/gateway.ts';
import { startHistory } from '../support/history.ts';
import { listening } from '../support/listening.ts';
import { registerAgents, restateSettings } from '../support/restate.ts';

const TYPE = 'ag-ui-shop';
const history = forAllTests(() => startHistory({ longPollTimeoutMs: 1_000 }));
const gateway = forAllTests(() =>
  startTestGateway({ GATEWAY_HISTORY_URL: history.url, ...restateSettings() }),
);
forAllTests(() => {
  const refund = {
    approval: true as const,
    run: ({ amount }: { amount: number }) => ({ refunded: amount }),
  };
  const shop = defineAgent({
    name: TYPE,
    gatewayUrl: gateway.url,
    streamsUrl: history.url,
    apiKey: API_KEY,
    tools: { refund },
    async *generate({ message, written, signal }) {
      const calls = written.filter((part) => part.type === 'tool');
      if (message.text === 'fail') throw new TerminalError('no model');
      if (message.text === 'hold') {
        yield 'one ';
        if (!signal.aborted) await once(signal, 'abort');
      } else if (message.text.startsWith('refund') && calls.length === 0) {
        yield { reasoning: 'Two payments.' };
        yield 'Sure. ';
        yield [20, 30].map((amount) => ({ tool: 'refund', input: { amount } }));
      } else {
        yield { usage: { inputTokens: 3, outputTokens: 4 } };
        yield calls.map(({ output, error }) => error ?? JSON.stringify(output)).join() || 'Hello.';
      }
    },
  });
  return registerAgents(shop.services);
});
/** A back end with the route, as an application has it. */
const backEnd = forAllTests(() => {
  const client = new AgentGateway({ url: gateway.url, apiKey: API_KEY });
  const run = agUiBackEnd({
    gateway: client,
    authorize: ({ headers }, threadId) => {
      const subject = headers.get('x-user');
      return subject !== null && { subject, agent: `${TYPE}/${threadId}` };
    },
    mayDecide: (_, { subject }) => subject !== 'guest',
    onError: () => undefined,
  });
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const answer = await run(
      new Request('http://shop.test/ag-ui', {
        method: 'POST',
        headers: incoming.headers as Record<string, string>,
        body: JSON.stringify(await json(incoming)),
        signal: gone.signal,
      }),
    );
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    Readable.fromWeb(answer.body as never).pipe(outgoing);
  };
  return listening(server);
});

const clientOfBackEnd = () => new AgentGateway({ url: gateway.url, apiKey: API_KEY });

async function turnsOf(threadId: string): Promise<readonly Turn[]> {
  const events: AgentEvent[] = [];
  const timeline = clientOfBackEnd().timeline(`${TYPE}/${threadId}`, { live: false });
  for await (const event of timeline) events.push(event as AgentEvent);
  return conversation(events).turns;
}

/** A client of a thread, which knows these messages. */
function clientOf(threadId: string, initialMessages: Message[] = [], user = 'ada') {
  const headers = { 'x-user': user };
  const agent = new HttpAgent({ url: backEnd.url, headers, threadId, initialMessages });
  const ended: unknown[] = [];
  const run = async (parameters: RunAgentParameters = {}): Promise<readonly Interrupt[]> => {
    await agent.runAgent(parameters, {
      onRunFinishedEvent: ({ event }) => void ended.push(event.outcome),
      onRunErrorEvent: ({ event }) => void ended.push([event.code, event.message]),
    });
    return agent.pendingInterrupts;
  };
  const say = (content: string): ReturnType<typeof run> => {
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
    return run();
  };
  const said = () =>
    agent.messages.map(
      ({ role, content }) => `${role}: ${typeof content === 'string' ? content : 'call'}`,
    );
  return { agent, run, say, said, ended };
}

const answerTo = (interrupts: readonly Interrupt[], payload: object) =>
  interrupts.map(({ id }) => ({ interruptId: id, status: 'resolved' as const, payload }));

describe('the client of AG-UI', () => {
  it('gets an answer, and the same one for the same run', async () => {
    const { agent, say, said, ended } = clientOf('hello');
    await say('Hi');
    expect(said()).toEqual(['user: Hi', 'assistant: Hello.']);
    expect(ended).toEqual([{ type: 'success' }]);
    for (const runId of ['r-1', 'r-1']) {
      const other = clientOf('hello', [agent.messages[0]!]);
      await other.run({ runId });
      expect(other.said()).toEqual(said());
    }
    expect(await turnsOf('hello')).toHaveLength(2);
  });

  it('is interrupted for two calls at once, and goes on with what was decided', async () => {
    const { run, say, said, ended } = clientOf('yes');
    const interrupts = await say('refund');
    expect(interrupts).toMatchObject([
      { reason: 'tool_approval', message: 'May it use refund?' },
      { reason: 'tool_approval', message: 'May it use refund?' },
    ]);
    const before = ['user: refund', 'reasoning: Two payments.', 'assistant: Sure. '];
    expect(said()).toEqual([...before, 'assistant: call', 'assistant: call']);
    const [first, second] = answerTo(interrupts, { approved: true });
    const denied = { ...second!, payload: { approved: false, note: 'too much' } };
    expect(await run({ resume: [first!, denied] })).toEqual([]);
    expect(ended.at(-1)).toEqual({ type: 'success' });
    expect(said().slice(3).toSorted()).toEqual([
      'assistant: call',
      'assistant: call',
      'assistant: {"refunded":20},denied by a person: too much',
      'tool: denied by a person',
      'tool: {"refunded":20}',
    ]);
    const [turn] = await turnsOf('yes');
    expect(turn?.tools.map(({ decision }) => decision)).toMatchObject([
      { approved: true, by: 'ada' },
      { approved: false, by: 'ada', note: 'too much' },
    ]);
  });

  it('sees what was said after a reload, and decides then', async () => {
    const before = clientOf('reload');
    await before.say('refund');
    const { run, said, agent, ended } = clientOf('reload');
    const interrupts = await run();
    expect(said()).toEqual(before.said());
    expect(interrupts).toEqual(before.agent.pendingInterrupts);
    const abandoned = interrupts.map(({ id }) => ({
      interruptId: id,
      status: 'cancelled' as const,
    }));
    await run({ resume: abandoned });
    expect(ended.at(-1)).toEqual({ type: 'success' });
    expect(agent.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: 'denied by a person,denied by a person',
    });
  });

  it('hears of a turn that was stopped, and of one that failed', async () => {
    const held = clientOf('hold');
    const said = untilSaid(held.agent, 'one ');
    const running = held.say('hold');
    await said;
    const [turn] = await turnsOf('hold');
    await clientOfBackEnd().agents.stop(`${TYPE}/hold`, turn!.id!);
    await running;
    expect(held.ended).toEqual([{ type: 'cancelled' }]);
    const failed = clientOf('fail');
    await failed.say('fail').catch(() => undefined);
    expect(failed.ended).toMatchObject([['failed', expect.not.stringContaining('no model')]]);
  });

  it('decides nothing for somebody who may not, or without a clear yes or no', async () => {
    const owner = clientOf('guarded');
    const interrupts = await owner.say('refund');
    const status = async (user: string, payload: object, threadId = 'guarded') => {
      const { agent } = clientOf(threadId, owner.agent.messages, user);
      const resume = answerTo(interrupts, payload);
      const { headers, messages } = agent;
      const response = await fetch(backEnd.url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ threadId, runId: 'r', messages, resume }),
      });
      return [response.status, (await response.text()).includes('unknown_interrupt')];
    };
    expect(await status('guest', { approved: true })).toEqual([403, false]);
    expect(await status('ada', { approved: 'yes' })).toEqual([400, false]);
    expect(await status('ada', {})).toEqual([400, false]);
    expect(await status('ada', { approved: true }, 'hello')).toEqual([200, true]);
    const [turn] = await turnsOf('guarded');
    expect(turn?.state).toBe('asking');
  });

  it.each([
    [{ method: 'GET' }, 405],
    [{ method: 'POST', body: '{}' }, 415],
    [{ method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }, 400],
    [
      {
        method: 'POST',
        body: '{"threadId":"x","runId":"r","messages":[]}',
        headers: { 'content-type': 'application/json' },
      },
      401,
    ],
  ])('is refused what is no run of somebody: %j', async (init, status) => {
    const run = agUiBackEnd({
      gateway: new AgentGateway({ url: gateway.url, apiKey: API_KEY }),
      authorize: () => false,
    });
    expect((await run(new Request('http://shop.test/ag-ui', init))).status).toBe(status);
  });
});

/** Resolves when the agent has said this. */
function untilSaid(agent: HttpAgent, text: string): Promise<void> {
  return new Promise((resolve) => {
    const { unsubscribe } = agent.subscribe({
      onTextMessageContentEvent: ({ event, textMessageBuffer }) => {
        if (textMessageBuffer + event.delta !== text) return;
        unsubscribe();
        resolve();
      },
    });
  });
}
