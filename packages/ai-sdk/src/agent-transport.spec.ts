import { describe, expect, it } from '@jest/globals';
import type { AgentGateway } from '@agent-gateway/client';
import { agentTransport } from './agent-transport.ts';

const USER = { id: 'r1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] };
const message = (id?: string): object => ({
  kind: 'message',
  content: [],
  ...(id !== undefined && { invocationId: id }),
});
const word = { kind: 'word', replyTo: 0, text: 'so' };
const reply = { kind: 'reply', replyTo: 0, content: [] };

/** A transport for an agent whose timeline has these events, and the commands that it gives. */
function transportOf(...events: object[]) {
  const commands: unknown[] = [];
  const accepted = { invocationId: 'inv_accepted' };
  const take =
    (name: string) =>
    (_: string, ...given: unknown[]): Promise<object> => {
      commands.push([name, ...given]);
      return Promise.resolve(accepted);
    };
  const answer = {
    sent: Promise.resolve(accepted),
    stop: (reason?: string) => take('answer.stop')('', reason),
  };
  const numbered = events.map((event, seq) => ({ ...event, seq, at: '' }));
  const gateway = {
    agents: {
      ask: () => answer,
      control: take('control'),
      stop: take('stop'),
      decide: take('decide'),
    },
    timeline: () => ({
      bookmark: { offset: '0', seq: events.length - 1 },
      [Symbol.asyncIterator]: () => numbered[Symbol.iterator](),
    }),
  };
  return { transport: agentTransport(gateway as unknown as AgentGateway, 'chat/ada'), commands };
}

describe('a stop of the transport', () => {
  it('names the answer that runs since before the page was there', async () => {
    const { transport, commands } = transportOf(message('inv_a'), word);
    await transport.history();
    await transport.stop('enough');
    expect(commands).toEqual([['stop', 'inv_a', { reason: 'enough' }]]);
  });

  it('interrupts an agent that does not name its turns', async () => {
    const { transport, commands } = transportOf(message(), word);
    await transport.history();
    await transport.stop();
    expect(commands).toEqual([['control', 'interrupt', {}]]);
  });

  // It interrupted whatever came next, maybe for another user.
  it('does nothing where no answer runs', async () => {
    const { transport, commands } = transportOf(message('inv_a'), word, reply);
    await transport.history();
    expect(await transport.stop()).toBeUndefined();
    expect(commands).toEqual([]);
  });

  it('is that of the answer to the message that was sent last', async () => {
    const { transport, commands } = transportOf(message('inv_a'), word);
    await transport.history();
    await transport.sendMessages({
      chatId: 'c',
      messages: [USER],
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    });
    await transport.stop('enough');
    expect(commands).toEqual([['answer.stop', 'enough']]);
  });
});

describe('a decision of the transport', () => {
  it('names the call, as its part does', async () => {
    const tool = { kind: 'tool', replyTo: 0, id: 'x.1', name: 'refund', state: 'waiting' };
    const { transport, commands } = transportOf(message('inv_a'), tool);
    const [, asking] = await transport.history();
    expect(asking?.parts).toMatchObject([{ state: 'approval-requested', toolCallId: 'x.1' }]);
    await transport.decide('x.1', { approved: true });
    await transport.decide('x.1', { approved: false, note: 'no' });
    expect(commands).toEqual([
      ['decide', { call: 'x.1', approved: true }],
      ['decide', { call: 'x.1', approved: false, note: 'no' }],
    ]);
  });
});
