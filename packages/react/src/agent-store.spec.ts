import { describe, expect, it } from '@jest/globals';
import type { AgentGateway, TimelineEvent } from '@agent-gateway/client';
import { AgentStore, type AgentState } from './agent-store.ts';

type Command = [name: string, ...given: unknown[]];

/** A gateway that accepts each message as `inv_1`, `inv_2` …, and whose timeline has what the test appends. */
function fakeGateway() {
  const commands: Command[] = [];
  const appended: TimelineEvent[] = [];
  let wake = (): void => undefined;
  let seq = 0;
  let messages = 0;
  const take =
    (name: string) =>
    (_: string, ...given: unknown[]): Promise<object> => {
      commands.push([name, ...given]);
      const refusal = given.find((one) => JSON.stringify(one).includes('refuse'));
      if (refusal) return Promise.reject(new Error('refused'));
      if (name === 'send') messages += 1;
      return Promise.resolve({ invocationId: `inv_${messages}` });
    };
  const names = ['send', 'control', 'stop', 'withdraw', 'decide'];
  async function* events() {
    for (;;) {
      const event = appended.shift();
      if (event) yield event;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const gateway = {
    agents: Object.fromEntries(names.map((name) => [name, take(name)])),
    timeline: () => ({ [Symbol.asyncIterator]: events, bookmark: { offset: '0', seq: 0 } }),
  };
  const append = (...more: object[]): void => {
    for (const event of more) appended.push({ ...event, seq: seq++, at: '' } as TimelineEvent);
    wake();
  };
  return { gateway: gateway as unknown as AgentGateway, commands, append };
}

/** A store that reads, as a component's does. */
function open() {
  const { gateway, commands, append } = fakeGateway();
  const store = new AgentStore(gateway, 'chat/ada');
  const waiting = new Set<() => void>();
  const leave = store.subscribe(() => waiting.forEach((look) => look()));
  /** Resolves as soon as the turns have these states. */
  const shown = (...states: string[]): Promise<AgentState> =>
    new Promise((resolve) => {
      const look = (): void => {
        const state = store.getState();
        if (state.turns.map((turn) => turn.state).join() !== states.join()) return;
        waiting.delete(look);
        resolve(state);
      };
      waiting.add(look);
      look();
    });
  return { store, commands, append, shown, leave };
}

const message = (id?: string, more = {}): object => ({
  kind: 'message',
  content: [],
  ...(id !== undefined && { invocationId: id }),
  ...more,
});
const word = (replyTo: number): object => ({ kind: 'word', replyTo, text: 'so' });

describe('the store of an agent', () => {
  it('stops the turn under way by its name, and none that waits', async () => {
    const { store, commands, append, shown, leave } = open();
    append(message('inv_a'), word(0), message('inv_b', { ahead: 1 }));
    const { queued } = await shown('writing', 'queued');
    expect(queued.map(({ id }) => id)).toEqual(['inv_b']);
    await store.stop(undefined, 'enough');
    await store.stop(queued[0]);
    await store.withdraw(queued[0]!, 'by mistake');
    leave();
    expect(commands).toEqual([
      ['stop', 'inv_a', { reason: 'enough' }],
      ['stop', 'inv_b', {}],
      ['withdraw', 'inv_b', { reason: 'by mistake' }],
    ]);
  });

  it('stops nothing that has ended', async () => {
    const { store, commands, append, shown, leave } = open();
    append(message('inv_a'), word(0));
    const { turns } = await shown('writing');
    append({ kind: 'reply', replyTo: 0, content: [] });
    await shown('done');
    await store.stop();
    await store.stop(turns[0]);
    leave();
    expect(commands).toEqual([]);
  });

  it('stops a message that is being sent as soon as it has a name', async () => {
    const { store, commands, leave } = open();
    const sending = store.send('hello');
    await store.stop();
    await sending;
    leave();
    expect(commands.map(([name]) => name)).toEqual(['send', 'stop']);
    expect(commands[1]).toEqual(['stop', 'inv_1', {}]);
  });

  it('interrupts an agent that does not name its turns, and takes no message back from it', async () => {
    const { store, commands, append, shown, leave } = open();
    append(message(), word(0));
    const { turns } = await shown('writing');
    await store.stop(turns[0], 'enough');
    await store.withdraw(turns[0]!);
    leave();
    expect(commands).toEqual([['control', 'interrupt', { reason: 'enough' }]]);
    expect(store.getState().error?.message).toBe('This agent takes no message back.');
  });

  it('decides a call, and says why it could not', async () => {
    const { store, commands, append, shown, leave } = open();
    const tool = { kind: 'tool', replyTo: 0, id: 'x.1', name: 'refund', state: 'waiting' };
    append(message('inv_a'), tool);
    const { turns, status } = await shown('asking');
    expect(status).toBe('waiting');
    await store.decide(turns[0]!.tools[0]!, { approved: true });
    await store.decide('x.1', { approved: false, note: 'refuse' });
    leave();
    expect(commands).toEqual([
      ['decide', { call: 'x.1', approved: true }],
      ['decide', { call: 'x.1', approved: false, note: 'refuse' }],
    ]);
    expect(store.getState().error?.message).toBe('refused');
  });

  it('forgets a sent message whose turn has its name, whatever the request', async () => {
    const { store, append, shown, leave } = open();
    await store.send('hello');
    await shown('waiting');
    append(message('inv_1'), word(0));
    await shown('writing');
    leave();
  });
});
