import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { conversation } from './conversation.ts';
import type { NewAgentEvent, TimelineEvent } from './events.ts';
import type { Conversation } from './turn.ts';

const at = (seq: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seq)).toISOString();
const numbered = (events: NewAgentEvent[], first = 0): TimelineEvent[] =>
  events.map((event, index) => ({ ...event, seq: first + index, at: at(first + index) }));
const text = (said: string) => [{ type: 'text', text: said }];
const message = (said: string, requestId?: string): NewAgentEvent => ({
  kind: 'message',
  content: text(said),
  ...(requestId !== undefined && { requestId }),
});
const word = (replyTo: number, index: number, said: string): NewAgentEvent => ({
  kind: 'word',
  replyTo,
  index,
  text: said,
});
const statesOf = ({ turns }: Conversation): string[] => turns.map(({ state }) => state);

describe('a conversation', () => {
  it('has a turn with the text so far, and then the whole', () => {
    const asked = conversation(numbered([{ kind: 'spawned' }, message('add', 'r1')]));
    expect(asked).toMatchObject({ status: 'running', nextSeq: 2 });
    expect(asked.turns).toEqual([
      {
        kind: 'turn',
        key: 'r1',
        seq: 1,
        message: { content: text('add'), text: 'add', requestId: 'r1' },
        text: '',
        tools: [],
        reply: undefined,
        state: 'waiting',
        stoppedBy: undefined,
        error: undefined,
        beganAt: at(1),
        endedAt: undefined,
      },
    ]);
    const tool = { kind: 'tool', replyTo: 1, id: 'c1', name: 'sum' } as const;
    const more = numbered(
      [
        word(1, 0, 'It is'),
        { ...tool, state: 'called', input: [1, 2] },
        { ...tool, state: 'done', output: 3 },
        word(1, 1, ' 3'),
      ],
      2,
    );
    const saying = conversation(more, asked);
    expect(saying.turns).toMatchObject([
      {
        key: 'r1',
        text: 'It is 3',
        state: 'writing',
        tools: [{ id: 'c1', name: 'sum', state: 'done', input: [1, 2], output: 3, textLength: 5 }],
      },
    ]);
    const reply: NewAgentEvent = { kind: 'reply', replyTo: 1, content: text('It is 3.') };
    const said = conversation(numbered([reply], 6), saying);
    expect(said.turns).toMatchObject([
      { key: 'r1', text: 'It is 3.', state: 'done', endedAt: at(6) },
    ]);
    expect(said.status).toBe('idle');
    expect(said.items.map(({ key }) => key)).toEqual(['#0', 'r1']);
    expect(said.items[1]).toBe(said.turns[0]);
  });

  it('says who stopped a turn, and why one failed or was refused', () => {
    const stopped = { verb: 'interrupt', reason: 'enough', requestId: 's1' } as const;
    const told = conversation(
      numbered([
        message('a', 'r0'),
        message('b', 'r1'),
        message('c', 'r2'),
        word(0, 0, 'so'),
        { kind: 'reply', replyTo: 0, content: text('so'), stopped },
        { kind: 'error', replyTo: 1, message: 'no model' },
        { kind: 'refused', requestId: 'r2', reason: 'archived' },
        { kind: 'refused', requestId: 'r3', reason: 'archived' },
      ]),
    );
    expect(told.turns).toMatchObject([
      { key: 'r0', state: 'stopped', text: 'so', stoppedBy: stopped, error: undefined },
      { key: 'r1', state: 'failed', error: 'no model', stoppedBy: undefined },
      { key: 'r2', state: 'refused', error: 'archived', endedAt: at(6) },
    ]);
    expect(told.items.at(-1)).toMatchObject({ kind: 'note', key: '#7', what: 'refused' });
  });

  it('keeps the status that the agent wrote until it writes another', () => {
    const statuses = (['paused', 'running', 'failing', 'idle', 'archived'] as const).map(
      (status): NewAgentEvent => ({ kind: 'status', status }),
    );
    const seen = numbered([message('a'), ...statuses], 0).map(
      (_, index, events) => conversation(events.slice(0, index + 1)).status,
    );
    // The open turn makes it running.
    expect(seen).toEqual(['running', 'paused', 'running', 'failing', 'running', 'archived']);
  });

  it('ignores what it has, and notes what is missing', () => {
    const first = conversation(numbered([message('a'), word(0, 0, 'x')]));
    expect(conversation(numbered([word(0, 0, 'x')], 1), first)).toBe(first);
    const later = conversation(numbered([word(0, 2, 'z')], 4), first);
    expect(later.turns[0]?.text).toBe('xz');
    expect(later.items.at(-1)).toEqual({
      kind: 'note',
      key: '#gap2',
      what: 'gap',
      event: undefined,
      gap: [2, 3],
    });
  });

  it('has a turn without a message, in its place, where the read began in the middle', () => {
    const told = conversation(
      numbered([word(7, 4, 'end'), message('b', 'r'), word(8, 0, 'ha'), word(7, 5, '.')], 9),
    );
    expect(
      told.turns.map(({ key, seq, message: said, text: saying }) => [key, seq, said?.text, saying]),
    ).toEqual([
      ['#turn7', 7, undefined, 'end.'],
      ['#turn8', 8, undefined, 'ha'],
      ['r', 10, 'b', ''],
    ]);
    expect(told.items).toEqual(told.turns);
  });

  it('keeps the objects of what did not change', () => {
    const reply: NewAgentEvent = { kind: 'reply', replyTo: 0, content: [] };
    const first = conversation(numbered([message('a'), reply, message('b'), { kind: 'spawned' }]));
    const next = conversation(numbered([word(2, 0, 'x')], 4), first);
    expect(next.turns[0]).toBe(first.turns[0]);
    expect(next.items[2]).toBe(first.items[2]);
    expect(next.turns[1]).not.toBe(first.turns[1]);
    expect(next.items[1]).toBe(next.turns[1]);
    expect(statesOf(first)).toEqual(['done', 'waiting']);
    // A word after the end changes nothing in the turn.
    expect(conversation(numbered([word(0, 1, 'late')], 5), next).turns[0]).toBe(first.turns[0]);
  });
});

const ODD = fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, -1, 0, 1, 2, 9, '#0', 'r', '1'));
/** Any events: of the vocabulary with odd fields, and anything else that JSON can hold. */
const events = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: ODD },
    {
      weight: 8,
      arbitrary: fc.record(
        {
          kind: fc.constantFrom(
            'message',
            'word',
            'tool',
            'reply',
            'error',
            'status',
            'refused',
            'x',
          ),
          replyTo: fc.oneof(fc.nat(8), ODD),
          requestId: fc.oneof(fc.constantFrom('r0', 'r1', 'r2'), ODD),
          content: fc.oneof(
            fc.array(fc.record({ type: fc.constant('text'), text: fc.string() })),
            ODD,
          ),
          text: fc.oneof(fc.string(), ODD),
          id: fc.constantFrom('a', 'b', 3),
          name: fc.constantFrom('f', 'g'),
          state: fc.constantFrom('called', 'done'),
          status: fc.oneof(fc.constantFrom('paused', 'idle', 'archived'), ODD),
          stopped: fc.oneof(fc.record({ verb: fc.constant('interrupt') }), ODD),
          message: ODD,
          seq: fc.option(ODD, { nil: undefined, freq: 12 }),
        },
        { requiredKeys: ['kind'] },
      ),
    },
  ),
  { maxLength: 25 },
);

describe('any events', () => {
  const withNumbers = events.map((list) => {
    let next = 0;
    return list.map((event) => {
      const isPlain = typeof event === 'object' && event !== null && !Array.isArray(event);
      const seq = isPlain && 'seq' in event && event.seq !== undefined ? event.seq : next++;
      return (isPlain ? { ...event, seq, at: at(next) } : event) as TimelineEvent;
    });
  });

  it('make the same conversation however they are cut', () => {
    fc.assert(
      fc.property(withNumbers, fc.infiniteStream(fc.nat(4)), (list, sizes) => {
        const whole = conversation(list);
        let cut: Conversation | undefined;
        for (let from = 0; from < list.length;) {
          const size = sizes.next().value as number;
          cut = conversation(list.slice(from, from + size), cut);
          from += size;
        }
        expect(cut ?? conversation([])).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  it('make items with keys of their own, which stay', () => {
    fc.assert(
      fc.property(withNumbers, fc.nat(25), (list, place) => {
        const first = conversation(list.slice(0, place));
        const keysBefore = first.items.map(({ key }) => key);
        const { items, turns } = conversation(list.slice(place), first);
        const keys = items.map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys).toEqual(expect.arrayContaining(keysBefore));
        expect(items.filter(({ kind }) => kind === 'turn')).toEqual(turns);
      }),
      { numRuns: 500 },
    );
  });
});
