import { describe, expect, it } from '@jest/globals';
import { linePlot } from './line-plot.ts';

const plot = (values: (number | undefined)[]) =>
  linePlot({
    title: 'Reads & "writes"',
    xTitle: 'connections',
    yTitle: 'a second',
    xTicks: ['8', '64', '512'],
    lines: [
      { label: 'first <1>', colour: 'blue', values },
      { label: 'second', colour: 'green', values: [100, 200, 300], isDashed: true },
    ],
  });

const numbers = (svg: string, pattern: RegExp): string[] =>
  [...svg.matchAll(pattern)].map(([, value]) => value ?? '');

describe('a line plot', () => {
  it('goes from zero to a round number above all values', () => {
    const texts = numbers(plot([900, 1_800, 1_100]), /text-anchor="end">([^<]*)</g);
    expect(texts).toEqual(['0', '500', '1,000', '1,500', '2,000']);
  });

  it('puts values where they belong', () => {
    // The top of the axis is 2,000: half of that is halfway between bottom (322) and top (40).
    const [first] = numbers(plot([0, 1_000, 2_000]), /points="([^"]*)"/g);
    expect(first).toBe('76,322 323,181 570,40');
  });

  it('leaves out what was not measured', () => {
    const [first] = numbers(plot([100, undefined, 200]), /points="([^"]*)"/g);
    expect(first?.split(' ')).toHaveLength(2);
  });

  it('keeps the names of lines apart that end at the same place', () => {
    const ys = numbers(plot([300, 300, 300]), /class="name[^"]*" x="582" y="([^"]*)"/g).map(Number);
    expect(Math.abs((ys[0] ?? 0) - (ys[1] ?? 0))).toBeGreaterThanOrEqual(17);
  });

  it('is well-formed whatever its texts hold', () => {
    const svg = plot([1, 2, 3]);
    expect(svg).toContain('<title>Reads &amp; &quot;writes&quot;</title>');
    expect(svg).toContain('first &lt;1></text>');
  });
});
