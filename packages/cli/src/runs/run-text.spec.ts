import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runsOf, type TimelineEvent } from '../../../client/src/index.ts';
import { rendered } from '../output/styled.ts';
import { durationInWords, endInWords, runsText } from './run-text.ts';

const zone = process.env.TZ;
beforeAll(() => void (process.env.TZ = 'UTC'));
afterAll(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const content = (text: string): object => ({ content: [{ type: 'text', text }] });
const events = [
  { seq: 0, at: at(0), kind: 'message', ...content('refund order 7') },
  { seq: 1, at: at(1), kind: 'tool', replyTo: 0, id: 'c1', name: 'refund', state: 'waiting' },
  { seq: 2, at: at(62), kind: 'decision', replyTo: 0, call: 'c1', approved: true },
  { seq: 3, at: at(63), kind: 'tool', replyTo: 0, id: 'c1', name: 'refund', state: 'done' },
  {
    seq: 4,
    at: at(70),
    kind: 'reply',
    replyTo: 0,
    ...content('done'),
    usage: { inputTokens: 12, outputTokens: 3, cost: 0.5 },
  },
  { seq: 5, at: at(80), kind: 'message', ...content('x'.repeat(60)) },
  { seq: 6, at: at(81), kind: 'error', replyTo: 5, message: 'the agent failed.' },
] as unknown as TimelineEvent[];
const runs = runsOf('shop/a', events);

it('shows each run in a line: begin, end, duration, attempts, steps, usage', () => {
  expect(rendered(runsText(runs, false)).split('\n')).toEqual([
    'BEGAN                AGENT   END     TOOK        TRIES  STEPS              USAGE                   MESSAGE',
    '2026-01-01 00:00:00  shop/a  done    1 min 10 s  1      model 2, refund 2  12 in, 3 out, cost 0.5  refund order 7',
    `2026-01-01 00:01:20  shop/a  failed  1.0 s       1      model 1            –                       ${'x'.repeat(39)}…`,
    '',
  ]);
});

it('shows the steps below, when and for how long', () => {
  const [, , ...steps] = rendered(runsText(runs, true)).split('\n');
  expect(steps).toEqual([
    '  +0.0 s      1.0 s      model          done',
    '  +1.0 s      1 min 1 s  person refund  done',
    '  +1 min 2 s  1.0 s      tool refund    done',
    '  +1 min 3 s  7.0 s      model          done',
    '',
    expect.stringMatching(/^BEGAN /),
    expect.stringMatching(/ failed /),
    '  +0.0 s  1.0 s  model  failed  the agent failed.',
    '',
  ]);
});

it('says why a run ended badly, and nothing of one that did not', () => {
  expect(runs.map(endInWords)).toEqual([undefined, 'shop/a failed: the agent failed.']);
});

it.each([
  [0, '0.0 s'],
  [449, '0.4 s'],
  [59_940, '59.9 s'],
  [60_000, '1 min 0 s'],
  [119_900, '2 min 0 s'],
])('says of %d ms that it is %s', (ms, words) => {
  expect(durationInWords(ms)).toBe(words);
});
