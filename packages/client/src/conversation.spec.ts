import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { conversation } from './conversation.ts';
import type { MessageEvent, NewAgentEvent, TimelineEvent, ToolEvent } from './events.ts';
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
/** The message of a turn that has a name. */
const named = (id: string, more: Partial<MessageEvent> = {}): NewAgentEvent => ({
  ...(message(id, `r-${id}`) as MessageEvent),
  invocationId: id,
  ...more,
});
const reply = (replyTo: number, said: string): NewAgentEvent => ({
  kind: 'reply',
  replyTo,
  content: text(said),
});
const tool = (state: ToolEvent['state'], more: Partial<ToolEvent> = {}): NewAgentEvent => ({
  kind: 'tool',
  replyTo: 0,
  id: 'x.1',
  name: 'refund',
  state,
  ...more,
});
const decision = (more: object = {}): NewAgentEvent => ({
  kind: 'decision',
  replyTo: 0,
  call: 'x.1',
  approved: true,
  ...more,
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
        id: undefined,
        seq: 1,
        message: { content: text('add'), text: 'add', requestId: 'r1' },
        parts: [],
        text: '',
        tools: [],
        reply: undefined,
        state: 'waiting',
        ahead: 0,
        stoppedBy: undefined,
        error: undefined,
        usage: undefined,
        beganAt: at(1),
        endedAt: undefined,
      },
    ]);
    const sum = { kind: 'tool', replyTo: 1, id: 'c1', name: 'sum' } as const;
    const more = numbered(
      [
        word(1, 0, 'It is'),
        { ...sum, state: 'called', input: [1, 2] },
        { ...sum, state: 'done', output: 3 },
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
    const said = conversation(numbered([reply(1, 'It is 3.')], 6), saying);
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

  // Anyone with a key may append anything, and some objects cannot be made a text of.
  it('has nothing of a stop that a reader could not show', () => {
    const odd = { toString: 1, valueOf: 1 };
    const stoppedBy = (stopped: object) =>
      conversation(numbered([message('a'), { ...reply(0, ''), stopped } as NewAgentEvent]))
        .turns[0];
    expect(stoppedBy({ verb: odd, reason: 'x' })).toMatchObject({
      state: 'stopped',
      stoppedBy: undefined,
    });
    expect(stoppedBy({ verb: 'stop', reason: odd })?.stoppedBy).toEqual({ verb: 'stop' });
    const refused = { kind: 'refused', reason: odd, requestId: 'r' } as unknown as NewAgentEvent;
    const [turn] = conversation(numbered([message('a', 'r'), refused])).turns;
    expect(turn).toMatchObject({ state: 'refused', error: '{"toString":1,"valueOf":1}' });
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
    const first = conversation(
      numbered([message('a'), reply(0, ''), message('b'), { kind: 'spawned' }]),
    );
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

describe('the parts of a turn', () => {
  it('are in the order in which they came, with texts and thoughts joined', () => {
    const [turn] = conversation(
      numbered([
        named('x'),
        { kind: 'reasoning', replyTo: 0, text: 'Is it' },
        { kind: 'reasoning', replyTo: 0, text: ' paid?' },
        word(0, 0, 'I look'),
        word(0, 1, ' it up.'),
        tool('called', { input: 7 }),
        { kind: 'data', replyTo: 0, data: { order: 7 } },
        tool('done', { output: 'paid' }),
        word(0, 2, ' It is.'),
        reply(0, 'I look it up. It is.'),
      ]),
    ).turns;
    expect(turn?.parts).toEqual([
      { type: 'reasoning', text: 'Is it paid?' },
      { type: 'text', text: 'I look it up.' },
      {
        type: 'tool',
        id: 'x.1',
        name: 'refund',
        state: 'done',
        input: 7,
        output: 'paid',
        textLength: 13,
      },
      { type: 'data', data: { order: 7 } },
      { type: 'text', text: ' It is.' },
    ]);
    expect(turn?.tools).toEqual([turn?.parts[2]]);
    expect(turn).toMatchObject({ id: 'x', state: 'done', text: 'I look it up. It is.' });
  });

  it.each([
    ['goes on', 'so far, and on', ['so', 'x.1', ' far, and on']],
    ['is another', 'else', ['x.1', 'else']],
    ['is empty', '', ['x.1']],
  ])('have the whole reply where that %s', (_, whole, expected) => {
    const events = [
      named('x'),
      word(0, 0, 'so'),
      tool('done'),
      word(0, 1, ' far'),
      reply(0, whole),
    ];
    const [turn] = conversation(numbered(events)).turns;
    expect(turn?.text).toBe(whole);
    expect(
      turn?.parts.map((part) => ('text' in part ? part.text : 'id' in part && part.id)),
    ).toEqual(expected);
  });

  it('have a call that waits, and who decided it', () => {
    const asking = conversation(numbered([named('x'), tool('waiting', { input: 90 })]));
    expect(asking).toMatchObject({ status: 'waiting', turns: [{ state: 'asking' }] });
    const decided = conversation(
      numbered([decision({ approved: false, by: 'ada', note: 'too much' })], 2),
      asking,
    );
    expect(decided).toMatchObject({ status: 'running', turns: [{ state: 'writing' }] });
    const said = { approved: false, by: 'ada', note: 'too much', at: at(2) };
    expect(decided.turns[0]?.tools).toMatchObject([{ state: 'waiting', decision: said }]);
    const denied = conversation(numbered([tool('denied', { error: 'too much' })], 3), decided);
    expect(denied.turns[0]?.tools).toMatchObject([
      { state: 'denied', input: 90, error: 'too much', decision: said },
    ]);
  });

  it('have the first of two decisions, and none that is no yes or no, or of another call', () => {
    const odd = [{ approved: 'yes' }, { call: 'y.1' }, { call: 1 }];
    const told = conversation(
      numbered([
        named('x'),
        tool('waiting'),
        ...odd.map((more) => decision(more)),
        decision({ by: 'ada', input: 3, expired: true }),
        decision({ approved: false, by: 'bob' }),
      ]),
    );
    expect(told.turns[0]?.tools[0]?.decision).toEqual({
      approved: true,
      by: 'ada',
      input: 3,
      expired: true,
      at: at(5),
    });
    const seqs = told.items.flatMap((item) => (item.kind === 'note' ? [item.event?.seq] : []));
    expect(seqs).toEqual([2, 3, 4, 6]);
  });

  it('wait while one of several calls does, and once more for a call that asks again', () => {
    const second = { id: 'x.2' };
    const events = [
      named('x'),
      tool('waiting'),
      tool('waiting', second),
      decision(),
      tool('done'),
      tool('waiting', second),
      decision({ call: 'x.2' }),
      tool('waiting', second),
    ];
    const states = numbered(events).map(
      (_, index, all) => conversation(all.slice(0, index + 1)).turns[0]?.state,
    );
    expect(states).toEqual([
      'waiting',
      'asking',
      'asking',
      'asking',
      'asking',
      'asking',
      'writing',
      'asking',
    ]);
  });
});

describe('turns that wait for others', () => {
  it('are queued until those before them have ended', () => {
    const first = conversation(
      numbered([named('a'), named('b', { ahead: 1 }), named('c', { ahead: 2 })]),
    );
    expect(statesOf(first)).toEqual(['waiting', 'queued', 'queued']);
    expect(first.queued).toEqual(first.turns.slice(1));
    const stopped = { verb: 'withdraw' } as const;
    const withdrawn: NewAgentEvent = { kind: 'reply', replyTo: 1, content: [], stopped };
    const one = conversation(numbered([word(0, 0, 'x'), withdrawn], 3), first);
    expect(statesOf(one)).toEqual(['writing', 'stopped', 'queued']);
    expect(one.turns[2]).toMatchObject({ ahead: 1 });
    const next = conversation(numbered([reply(0, 'x')], 5), one);
    expect(statesOf(next)).toEqual(['done', 'stopped', 'waiting']);
    expect(next.queued).toEqual([]);
  });

  it('are not any more when they begin, or when one ends that is before what was read', () => {
    const read = numbered([named('b', { ahead: 1 }), reply(7, 'so'), named('c', { ahead: 3 })], 9);
    const told = conversation([...read, ...numbered([word(11, 0, 'x')], 12)]);
    expect(told.turns.map(({ key, state }) => [key, state])).toEqual([
      ['#turn7', 'done'],
      ['r-b', 'waiting'],
      ['r-c', 'writing'],
    ]);
  });
});

describe('the name of a turn', () => {
  it('finds the turn that failed or was refused, whatever the request', () => {
    const told = conversation(
      numbered([
        named('a', { requestId: 'same' }),
        named('b', { requestId: 'same' }),
        named('c', { requestId: 'same' }),
        { kind: 'refused', reason: 'archived', invocationId: 'a', requestId: 'same' },
        { kind: 'error', message: 'no model', replyTo: 2, invocationId: 'b', requestId: 'same' },
        { kind: 'refused', reason: 'no', invocationId: 'of a stop', requestId: 'same' },
        { kind: 'error', message: 'odd', invocationId: 'c', requestId: 'same' },
      ]),
    );
    expect(statesOf(told)).toEqual(['refused', 'failed', 'waiting']);
    expect(told.items.slice(3)).toMatchObject([{ what: 'refused' }, { what: 'error' }]);
  });

  it('begins a turn again whose message comes again after a restore', () => {
    const before = conversation(
      numbered([named('a'), named('b', { ahead: 1 }), word(0, 0, 'half')]),
    );
    const after = conversation(
      numbered(
        [
          { kind: 'restored', expected: 2, found: 3 },
          named('a', { requestId: 'another' }),
          word(4, 0, 'whole'),
          word(0, 1, 'late'),
        ],
        3,
      ),
      before,
    );
    expect(after.turns.map(({ key, id, seq, text: said }) => [key, id, seq, said])).toEqual([
      ['#turn0', undefined, 0, 'late'],
      ['r-b', 'b', 1, ''],
      ['r-a', 'a', 4, 'whole'],
    ]);
    expect(after.turns[1]?.state).toBe('waiting');
    expect(after.items).toContainEqual(expect.objectContaining({ what: 'restored' }));
  });

  it('leaves the key of a turn that began again to it', () => {
    const nameless: NewAgentEvent = { kind: 'message', content: [], invocationId: 'a' };
    const told = conversation(numbered([nameless, nameless, word(0, 0, 'late')]));
    expect(told.turns.map(({ key, seq }) => [key, seq])).toEqual([
      ['#old0', 0],
      ['#turn0', 1],
    ]);
  });

  // Anyone with a key may append a message with the name of another turn.
  it('is that of the later turn, and hides no answer', () => {
    const told = conversation(numbered([named('a'), reply(0, 'so'), named('a')]));
    expect(told.turns).toMatchObject([
      { key: 'r-a', id: undefined, text: 'so', state: 'done' },
      { key: '#turn2', id: 'a', text: '', state: 'waiting' },
    ]);
  });

  it('stays with the first end of its turn', () => {
    const told = conversation(
      numbered([
        named('a'),
        reply(0, 'so'),
        reply(0, 'other'),
        { kind: 'error', replyTo: 0, message: 'no' },
      ]),
    );
    expect(told.turns).toMatchObject([{ text: 'so', state: 'done', error: undefined }]);
    expect(told.items.map(({ key }) => key)).toEqual(['r-a', '#2', '#3']);
    // An agent that was restored may write the same end again, which is no news.
    const again = conversation(numbered([reply(0, 'so')], 4), told);
    expect([again.items, again.nextSeq]).toEqual([told.items, 5]);
  });
});

describe('the status of a conversation', () => {
  const failure = (replyTo: number): NewAgentEvent => ({ kind: 'error', replyTo, message: 'no' });
  const after = (...events: NewAgentEvent[]) => conversation(numbered(events)).status;

  it('is failed after a failure for good, until a turn runs, and until a good reply', () => {
    const events = [named('a'), failure(0), named('b'), reply(2, 'ok')];
    const seen = events.map((_, index) => after(...events.slice(0, index + 1)));
    expect(seen).toEqual(['running', 'failed', 'running', 'idle']);
    const stopped = { ...reply(2, ''), stopped: { verb: 'stop' } } as NewAgentEvent;
    expect(after(named('a'), failure(0), named('b'), stopped)).toBe('failed');
    expect(after({ kind: 'status', status: 'failed' })).toBe('failed');
  });

  it('stays paused, and is idle for agents that do not name their turns', () => {
    expect(after(named('a'), { kind: 'status', status: 'paused' }, failure(0))).toBe('paused');
    expect(after(message('a', 'r'), failure(0))).toBe('idle');
  });

  it('says nothing of an agent that only says where a turn begins', () => {
    const before = conversation(numbered([named('a')]));
    const located = { kind: 'located', invocationId: 'a', offset: '1_2' } as const;
    const told = conversation(numbered([located], 1), before);
    expect([told.items, told.nextSeq]).toEqual([before.items, 2]);
  });
});

const ODD = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(undefined, -1, 0, 1, 2, 9, '#0', 'r', '1', { toString: 1, valueOf: 1 }),
);
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
            'reasoning',
            'data',
            'decision',
            'restored',
            'located',
            'x',
          ),
          replyTo: fc.oneof(fc.nat(8), ODD),
          requestId: fc.oneof(fc.constantFrom('r0', 'r1', 'r2'), ODD),
          invocationId: fc.oneof(fc.constantFrom('i0', 'i1'), ODD),
          ahead: fc.oneof(fc.nat(3), ODD),
          call: fc.oneof(fc.constantFrom('a', 'b'), ODD),
          approved: fc.oneof(fc.boolean(), ODD),
          by: ODD,
          reason: ODD,
          usage: ODD,
          content: fc.oneof(
            fc.array(fc.record({ type: fc.constant('text'), text: fc.string() })),
            ODD,
          ),
          text: fc.oneof(fc.string(), ODD),
          id: fc.constantFrom('a', 'b', 3),
          name: fc.constantFrom('f', 'g'),
          state: fc.oneof(fc.constantFrom('called', 'done', 'waiting', 'denied'), ODD),
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

  it('make parts that are the text, ids that name one turn, and a queue of open turns', () => {
    fc.assert(
      fc.property(withNumbers, (list) => {
        const { turns, queued } = conversation(list);
        for (const { text: said, parts, tools } of turns) {
          const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
          expect(texts.join('')).toBe(said);
          expect(tools).toEqual(parts.filter(({ type }) => type === 'tool'));
        }
        const ids = turns.flatMap(({ id }) => id ?? []);
        expect(new Set(ids).size).toBe(ids.length);
        expect(queued.every(({ ahead }) => ahead > 0)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
