import { describe, expect, it } from '@jest/globals';
import { readUIMessageStream, type UIMessageChunk } from 'ai';
import { readUIMessageStream as readUIMessageStreamOf6 } from 'ai-6';
import fc from 'fast-check';
import { conversation, type NewAgentEvent, type TimelineEvent } from '@agent-gateway/client';
import { AnswerChunks, errorOf } from './answer-chunks.ts';
import { uiMessages, type AgentMessage } from './ui-messages.ts';

const at = '2026-01-01T00:00:00.000Z';
const text = (value: string) => [{ type: 'text', text: value }];
const file = { type: 'file', url: 'https://files.example/a.png', mediaType: 'image/png' };
const tool = { kind: 'tool', replyTo: 0, id: 'c1', name: 'sum' } as const;
const word = (index: number, value: string): NewAgentEvent => ({
  kind: 'word',
  replyTo: 0,
  index,
  text: value,
});
const EVENTS: NewAgentEvent[] = [
  { kind: 'message', content: [...text('add'), file, { type: 'other' }], requestId: 'r1' },
  word(0, 'It'),
  { ...tool, state: 'called', input: [1, 2] },
  { ...tool, id: 'c2', name: 'spawn', state: 'called' },
  word(1, ' is'),
  { ...tool, state: 'done', output: 3 },
  { ...tool, id: 'c2', name: 'spawn', state: 'done', url: '/t/default/a/x/y' },
  { ...tool, id: 'c3', state: 'called' },
  { ...tool, id: 'c3', state: 'failed', error: 'no' },
  { kind: 'reasoning', replyTo: 0, text: 'So it is' },
  { kind: 'reasoning', replyTo: 0, text: ' three.' },
  { ...tool, id: 'c4', name: 'refund', state: 'waiting', input: 90 },
  { kind: 'decision', replyTo: 0, call: 'c4', approved: true, by: 'ada', input: 80 },
  { ...tool, id: 'c4', name: 'refund', state: 'called', input: 80 },
  { ...tool, id: 'c4', name: 'refund', state: 'done', output: 'ok' },
  { ...tool, id: 'c5', name: 'refund', state: 'waiting' },
  { kind: 'decision', replyTo: 0, call: 'c5', approved: false },
  { ...tool, id: 'c5', name: 'refund', state: 'denied', error: 'too much' },
  { kind: 'data', replyTo: 0, data: { order: 7 } },
  word(2, ' 3'),
  { kind: 'reply', replyTo: 0, content: [...text('It is 3.'), file] },
];
const events = EVENTS.map((event, seq): TimelineEvent => ({ ...event, seq, at }));
const own = { type: 'dynamic-tool', providerExecuted: true, input: null };

describe('the messages of a conversation', () => {
  it('have the user and the answer, with tools in their places', () => {
    const reply = [
      { type: 'text', text: 'It', state: 'done' },
      {
        ...own,
        toolName: 'sum',
        toolCallId: 'c1',
        input: [1, 2],
        state: 'output-available',
        output: 3,
      },
      {
        ...own,
        toolName: 'spawn',
        toolCallId: 'c2',
        state: 'output-available',
        output: '/t/default/a/x/y',
      },
      { type: 'text', text: ' is', state: 'done' },
      { ...own, toolName: 'sum', toolCallId: 'c3', state: 'output-error', errorText: 'no' },
      { type: 'reasoning', text: 'So it is three.', state: 'done' },
      {
        ...own,
        toolName: 'refund',
        toolCallId: 'c4',
        input: 80,
        approval: { id: 'c4' },
        state: 'output-available',
        output: 'ok',
      },
      {
        ...own,
        toolName: 'refund',
        toolCallId: 'c5',
        approval: { id: 'c5' },
        state: 'output-denied',
      },
      { type: 'data-agent', data: { order: 7 } },
      { type: 'text', text: ' 3.', state: 'done' },
      file,
    ];
    expect(uiMessages(conversation(events).turns)).toEqual([
      { id: 'r1', role: 'user', parts: [...text('add'), file] },
      {
        id: 'answer-0',
        role: 'assistant',
        metadata: { state: 'done', beganAt: at, endedAt: at },
        parts: reply,
      },
    ]);
  });

  it.each([
    ['6', readUIMessageStreamOf6 as unknown as typeof readUIMessageStream],
    ['7', readUIMessageStream],
  ] as const)('are what AI SDK %s makes of the chunks, however they were cut', async (_, read) => {
    const [, whole] = uiMessages(conversation(events).turns);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: events.length - 1 }));
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const told = chunksOf([...places.sort((one, other) => one - other), events.length]);
        let last: AgentMessage | undefined;
        const messages = read<AgentMessage>({ stream: streamOf(told), terminateOnError: true });
        for await (const message of messages) last = message;
        expect(withoutOwnFields(last)).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a call of a tool', () => {
  it('is to be approved until somebody has decided, and then runs', () => {
    const states = events.map((_, index) => {
      const [turn] = conversation(events.slice(0, index + 1)).turns;
      const parts = uiMessages([turn!]).at(-1)?.parts ?? [];
      const call = parts.find((part) => part.type === 'dynamic-tool' && part.toolCallId === 'c4');
      return (call as { state?: string } | undefined)?.state;
    });
    expect([...new Set(states)]).toEqual([
      undefined,
      'approval-requested',
      'input-available',
      'output-available',
    ]);
  });
});

describe('the error of a turn', () => {
  it.each([
    [{ kind: 'error', message: 'no', replyTo: 0 }, 'failed', 'The agent failed: no'],
    [
      { kind: 'refused', reason: 'archived', requestId: 'r1' },
      'archived',
      'The agent refused the message: archived',
    ],
    [
      { kind: 'refused', reason: 'inbox full', requestId: 'r1' },
      'refused',
      'The agent refused the message: inbox full',
    ],
  ])('has the code of an answer: %j', (end, code, message) => {
    const [turn] = conversation([...events.slice(0, 1), { ...end, seq: 1, at }]).turns;
    expect(errorOf(turn!)).toMatchObject({ code, message });
  });

  it('is not there for one that is done or stopped', () => {
    expect(errorOf(conversation(events).turns[0]!)).toBeUndefined();
  });
});

/** The SDK adds fields without a value, and the id of its stream to reasoning. */
function withoutOwnFields(message: AgentMessage | undefined): unknown {
  return JSON.parse(JSON.stringify(message), (_, value: unknown) => {
    const { type } = (value ?? {}) as { type?: unknown };
    return type === 'reasoning' ? { ...(value as object), id: undefined } : value;
  });
}

/** The chunks for the events up to each of these places. */
function chunksOf(places: number[]): UIMessageChunk[] {
  const chunks = new AnswerChunks();
  return places.flatMap((place) => [
    ...chunks.after(conversation(events.slice(0, place)).turns[0]!),
  ]);
}

function streamOf(chunks: UIMessageChunk[]): ReadableStream<UIMessageChunk> {
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}
