import { describe, expect, it } from '@jest/globals';
import { HttpAgent } from '@ag-ui/client';
import { EventType, type Event, type Message } from '@ag-ui/core';
import { EventSchema } from '@ag-ui/core/schemas';
import fc from 'fast-check';
import { conversation, type NewAgentEvent, type TimelineEvent } from '@agent-gateway/client';
import { messagesOf } from './messages.ts';
import { endOf, interruptsOf, RunEvents } from './run-events.ts';

const at = '2026-01-01T00:00:00.000Z';
const tool = { kind: 'tool', replyTo: 0, id: 'c1', name: 'sum' } as const;
const ask = { ...tool, id: 'c2', name: 'refund' } as const;
const word = (index: number, text: string): NewAgentEvent => ({
  kind: 'word',
  replyTo: 0,
  index,
  text,
});
const EVENTS: NewAgentEvent[] = [
  { kind: 'message', content: [{ type: 'text', text: 'add' }], invocationId: 'inv_1' },
  { kind: 'reasoning', replyTo: 0, text: 'So' },
  { kind: 'reasoning', replyTo: 0, text: ' easy.' },
  word(0, 'It'),
  word(1, ' is '),
  { ...tool, state: 'called', input: [1, 2] },
  { ...tool, id: 'c3', name: 'research', state: 'called', url: '/t/default/a/researcher/x' },
  { ...tool, id: 'c3', name: 'research', state: 'failed', error: 'no' },
  { ...tool, state: 'done', output: 3 },
  { kind: 'data', replyTo: 0, data: { order: 7 } },
  word(2, '3. '),
  { ...ask, state: 'waiting', input: { amount: 50 } },
  { kind: 'decision', replyTo: 0, call: 'c2', approved: true, by: 'ada' },
  { ...ask, state: 'called' },
  { ...ask, state: 'done', output: 'ok' },
  { ...ask, id: 'c4', state: 'waiting' },
  { kind: 'decision', replyTo: 0, call: 'c4', approved: false },
  { ...ask, id: 'c4', state: 'denied' },
  word(3, 'Refunded.'),
  {
    kind: 'reply',
    replyTo: 0,
    content: [{ type: 'text', text: 'It is 3. Refunded.' }],
    usage: { inputTokens: 5, outputTokens: 6, cost: 1 },
  },
];
const events = EVENTS.map((event, seq): TimelineEvent => ({ ...event, seq, at }));
const turnAt = (place: number) => conversation(events.slice(0, place)).turns[0]!;
const ids = { threadId: 't', runId: 'r' };
const PLACES = fc.uniqueArray(fc.integer({ min: 1, max: events.length - 1 }));

describe('the events of runs', () => {
  it('make the messages of the conversation in the client, however often it was interrupted', async () => {
    const [user, ...whole] = messagesOf(conversation(events).turns);
    await fc.assert(
      fc.asyncProperty(PLACES, PLACES, async (reads, interrupts) => {
        const places = [...reads, ...interrupts, events.length].sort((one, other) => one - other);
        let messages: Message[] = [];
        let run = new RunEvents();
        let told: Event[] = [{ type: EventType.RUN_STARTED, ...ids }];
        for (const place of places) {
          const turn = turnAt(place);
          told.push(...run.after(turn));
          const isEnd = place === events.length;
          // A text that grows is whole when the agent waits for somebody.
          if (!isEnd && (!interrupts.includes(place) || interruptsOf(turn).length === 0)) continue;
          told.push(...run.close(), endOf(turnAt(events.length), ids));
          messages = await messagesAfter(messages, told);
          run = new RunEvents(messages);
          told = [{ type: EventType.RUN_STARTED, ...ids }];
        }
        expect(user).toEqual({ id: '#turn0', role: 'user', content: 'add' });
        expect(withoutErrors(messages)).toEqual(withoutErrors(whole));
      }),
      { numRuns: 100 },
    );
  });

  it('say who decided, which agent works, and data, each once', () => {
    const run = new RunEvents();
    const told = [6, 7, 8, 13, 14, events.length].flatMap((place) => [...run.after(turnAt(place))]);
    expect(told.filter(({ type }) => type === EventType.CUSTOM)).toMatchObject([
      { name: 'agent', value: { toolCallId: 'c3', url: '/t/default/a/researcher/x' } },
      { name: 'data', value: { order: 7 } },
      { name: 'decision', value: { toolCallId: 'c2', approved: true, by: 'ada' } },
      { name: 'decision', value: { toolCallId: 'c4', approved: false } },
    ]);
  });
});

describe('the end of a run', () => {
  it.each([
    [
      { kind: 'reply', content: [] },
      { type: 'RUN_FINISHED', outcome: { type: 'success' } },
    ],
    [
      { kind: 'reply', content: [], stopped: { verb: 'stop' } },
      { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } },
    ],
    [
      { kind: 'error', message: 'no model' },
      { type: 'RUN_ERROR', message: 'no model' },
    ],
  ])('is what became of the turn: %j', (end, wanted) => {
    const usage = { inputTokens: 5, cost: 1 };
    const all = [...events.slice(0, 3), { ...end, replyTo: 0, usage, seq: 3, at }];
    const event = endOf(conversation(all).turns[0]!, ids);
    expect(event).toMatchObject({ ...wanted, usage: [{ inputTokens: 5 }] });
    expect(EventSchema.safeParse(event).error).toBeUndefined();
  });
});

/** What the protocol's own client makes of events, after it has checked that they are in order. */
async function messagesAfter(messages: Message[], told: Event[]): Promise<Message[]> {
  for (const event of told) expect(EventSchema.safeParse(event).error).toBeUndefined();
  const stream = told.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const headers = { 'content-type': 'text/event-stream' };
  const fetch = () => Promise.resolve(new Response(stream, { headers }));
  const agent = new HttpAgent({ url: 'http://agent.test', initialMessages: messages, fetch });
  await agent.runAgent();
  return agent.messages;
}

/** Events do not say whether a result is an error. */
function withoutErrors(messages: Message[]): unknown {
  return messages.map((message) => ({ ...message, error: undefined }));
}
