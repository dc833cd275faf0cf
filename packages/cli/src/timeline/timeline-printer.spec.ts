import { beforeAll, afterAll, describe, expect, it } from '@jest/globals';
import type { AgentEvent } from '../../../client/src/index.ts';
import { joined, rendered } from '../output/styled.ts';
import { SoFar } from './so-far.ts';
import { TimelinePrinter } from './timeline-printer.ts';

const AT = '2026-11-21T16:02:11.123Z';
const HEAD = '2026-11-21 16:02:11';

describe('the readable timeline', () => {
  let zone: string | undefined;
  beforeAll(() => {
    zone = process.env.TZ;
    process.env.TZ = 'UTC';
  });
  afterAll(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });

  const print = (...events: unknown[]): string => {
    const printer = new TimelinePrinter();
    const soFar = new SoFar();
    const lines = events.map((event) => {
      const turn = soFar.turnOf((event ?? {}) as AgentEvent);
      soFar.add((event ?? {}) as AgentEvent);
      return printer.print(event, turn?.text);
    });
    return rendered(joined([...lines, printer.endLine()]));
  };

  it.each<[string, object, string]>([
    ['a message', { kind: 'message', content: [{ type: 'text', text: 'hi' }] }, 'message      hi'],
    [
      'a part that is no text',
      { kind: 'reply', content: [{ type: 'image', url: 'x' }, null] },
      'reply        {"type":"image","url":"x"}\n                                        null',
    ],
    ['content that is none', { kind: 'reply', content: 'x' }, 'reply        {"content":"x"}'],
    [
      'a status',
      { kind: 'status', status: 'failing', attempt: 2, reason: 'no answer' },
      'status       → failing (attempt 2: no answer)',
    ],
    [
      'a tool',
      { kind: 'tool', name: 'weather', state: 'called', input: { city: 'Rome' } },
      'tool         weather called {"city":"Rome"}',
    ],
    [
      'a child of today',
      { kind: 'tool', name: 'spawn', state: 'done', output: {}, url: '/t/default/a/echo/e2' },
      'tool         spawn done /t/default/a/echo/e2',
    ],
    [
      'a stopped reply',
      {
        kind: 'reply',
        content: [{ type: 'text', text: '1 2' }],
        stopped: { verb: 'interrupt', reason: 'enough' },
      },
      'reply        1 2 (stopped by interrupt: enough)',
    ],
    [
      'a reply that was stopped alone',
      { kind: 'reply', content: [], stopped: { verb: 'stop', reason: 'enough' } },
      'reply        (stopped: enough)',
    ],
    [
      'a message that was taken back',
      { kind: 'reply', content: [], stopped: { verb: 'withdraw' } },
      'reply        (withdrawn)',
    ],
    [
      'a call that waits for a person',
      { kind: 'tool', id: 'k3.1', name: 'refund', state: 'waiting', input: { order: 7 } },
      'tool         refund waits for a decision {"order":7} (call k3.1)',
    ],
    [
      'a denied call',
      { kind: 'tool', id: 'k3.1', name: 'refund', state: 'denied', error: 'too much' },
      'tool         refund denied too much',
    ],
    [
      'a yes with another input',
      { kind: 'decision', call: 'k3.1', approved: true, by: 'ada', input: { order: 8 } },
      'decision     k3.1 approved by ada with {"order":8}',
    ],
    [
      'a no with a note',
      { kind: 'decision', call: 'k3.1', approved: false, by: 'ada', note: 'too much' },
      'decision     k3.1 denied by ada: too much',
    ],
    [
      'a decision of nobody',
      { kind: 'decision', call: 'k3.1', approved: false, expired: true },
      'decision     k3.1 denied because nobody decided in time',
    ],
    [
      'a decision that is none',
      { kind: 'decision', call: 'k3.1', approved: 'yes' },
      'decision     {"call":"k3.1","approved":"yes"}',
    ],
    ['data', { kind: 'data', replyTo: 1, data: { order: 7 } }, 'data         {"order":7}'],
    [
      'a store that was restored',
      { kind: 'restored', expected: 9, found: 7 },
      'restored     the store was restored, and 2 events of the agent are missing',
    ],
    [
      'an agent that was restored',
      { kind: 'restored', expected: 7, found: 8 },
      'restored     the agent was restored, and may repeat 1 event',
    ],
    ['a refused command', { kind: 'refused', reason: 'archived' }, 'refused      archived'],
    [
      'a verb',
      { kind: 'status', verb: 'archive', status: 'archived' },
      'status       archive → archived',
    ],
    ['an error', { kind: 'error', message: 'broken' }, 'error        broken'],
    ['a strange one', { kind: 'error', message: { a: 1 } }, 'error        {"message":{"a":1}}'],
    [
      'another kind',
      { kind: 'tool_call', name: 'f', args: [1] },
      'tool_call    {"name":"f","args":[1]}',
    ],
    ['no kind', { text: 'x' }, '             {"text":"x"}'],
    ['nothing', { kind: 'spawned' }, 'spawned'],
  ])('shows %s', (_, event, text) => {
    expect(print({ seq: 12, at: AT, ...event })).toBe(`${HEAD}    12  ${text}\n`);
  });

  it('shows what is no event, and no time, as it is', () => {
    expect(print('text\n', [1], null, 7, { seq: 'x', at: 'never', kind: 7 })).toBe(
      `"text\\n"\n[1]\nnull\n7\n\n`,
    );
  });

  it('puts the words of a reply on one line, and those of another one on the next', () => {
    const word = (seq: number, replyTo: number, text: string): object => ({
      seq,
      at: AT,
      kind: 'word',
      replyTo,
      text,
    });
    const reply = (seq: number, replyTo: number, text: string): object => ({
      seq,
      at: AT,
      kind: 'reply',
      replyTo,
      content: [{ type: 'text', text }],
    });
    expect(
      print(
        word(2, 1, 'one'),
        word(3, 1, ' two'),
        reply(4, 1, 'one two'),
        word(5, 4, 'one'),
        word(6, 5, 'other'),
        { seq: 7, at: AT, kind: 'x' },
        word(8, 5, 'again'),
        reply(9, 5, 'not what was said'),
        word(10, 5, 'open'),
      ),
    ).toBe(
      [
        `${HEAD}     2  word         one two`,
        `${HEAD}     4  reply        (as above)`,
        `${HEAD}     5  word         one`,
        `${HEAD}     6  word         other`,
        `${HEAD}     7  x`,
        `${HEAD}     8  word         again`,
        `${HEAD}     9  reply        not what was said`,
        `${HEAD}    10  word         open\n`,
      ].join('\n'),
    );
  });

  it('puts reasoning on a line of its own, and shows nothing of a turn that was looked for', () => {
    const event = (seq: number, fields: object): object => ({ seq, at: AT, replyTo: 1, ...fields });
    expect(
      print(
        event(2, { kind: 'reasoning', text: 'It may' }),
        event(3, { kind: 'located', invocationId: 'inv_1', offset: '0_1' }),
        event(4, { kind: 'reasoning', text: ' rain.' }),
        event(5, { kind: 'word', text: 'Take a coat.' }),
      ),
    ).toBe(
      [
        `${HEAD}     2  reasoning    It may rain.`,
        `${HEAD}     5  word         Take a coat.\n`,
      ].join('\n'),
    );
  });

  // The whole reply came again below the line of a tool, although everybody had just read it.
  it('does not repeat a reply whose words stand above the line of a tool', () => {
    const event = (seq: number, fields: object): object => ({ seq, at: AT, replyTo: 1, ...fields });
    expect(
      print(
        event(2, { kind: 'word', text: 'one' }),
        event(3, { kind: 'tool', id: 'a', name: 'weather', state: 'called' }),
        event(4, { kind: 'word', text: ' two' }),
        event(5, { kind: 'reply', content: [{ type: 'text', text: 'one two' }] }),
      ),
    ).toBe(
      [
        `${HEAD}     2  word         one`,
        `${HEAD}     3  tool         weather called`,
        `${HEAD}     4  word          two`,
        `${HEAD}     5  reply        (as above)\n`,
      ].join('\n'),
    );
  });
});
