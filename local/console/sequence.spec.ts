import { describe, expect, it } from '@jest/globals';

interface Sequence {
  judge(seq: number): unknown;
}
// The page's modules are plain JavaScript, which the compiler is not to look for types in.
const module: string = new URL('page/sequence.js', import.meta.url).href;
const { Sequence } = (await import(module)) as { Sequence: new () => Sequence };

describe('Sequence', () => {
  it.each([
    ['passes what is gapless', [0, 1, 2], ['next', 'next', 'next']],
    ['sees that the beginning is missing', [2], [{ kind: 'gap', from: 0, to: 1 }]],
    ['sees a gap, once', [0, 3, 4], ['next', { kind: 'gap', from: 1, to: 2 }, 'next']],
    ['sees a repeat, and goes on', [0, 1, 1, 2], ['next', 'next', 'repeat', 'next']],
    [
      'sees a whole batch that came twice',
      [0, 1, 0, 1, 2],
      ['next', 'next', 'repeat', 'repeat', 'next'],
    ],
  ])('%s', (_, seqs, verdicts) => {
    const sequence = new Sequence();
    expect(seqs.map((seq) => sequence.judge(seq))).toEqual(
      verdicts.map((verdict) => (typeof verdict === 'string' ? { kind: verdict } : verdict)),
    );
  });
});
