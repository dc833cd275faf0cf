import { describe, expect, it } from '@jest/globals';
import { parseExposition, sampleValue } from '../support/exposition.ts';

const COUNTER = '# HELP a_total A.\n# TYPE a_total counter\n';
const HISTOGRAM = '# HELP h_seconds H.\n# TYPE h_seconds histogram\n';
const BUCKETS = 'h_seconds_bucket{le="1"} 1\nh_seconds_bucket{le="+Inf"} 2\n';

/** The tests of the metrics rely on this parser, so it must report errors. */
describe('parseExposition', () => {
  it('reads families, labels with what is escaped in them, and values', () => {
    const families = parseExposition(
      `${COUNTER}a_total{x="1,\\"2\\"\\\\\\n",y=""} 3\n\n${HISTOGRAM}${BUCKETS}h_seconds_sum 5.5\nh_seconds_count 2\n`,
    );
    expect(families.map(({ name, type }) => [name, type])).toEqual([
      ['a_total', 'counter'],
      ['h_seconds', 'histogram'],
    ]);
    expect(sampleValue(families, 'a_total', { x: '1,"2"\\\n', y: '' })).toBe(3);
    expect(sampleValue(families, 'h_seconds_bucket', { le: '+Inf' })).toBe(2);
    expect(sampleValue(families, 'a_total')).toBeUndefined();
  });

  it.each([
    ['no end of the last line', `${COUNTER}a_total 1`],
    ['a type without help', '# TYPE a_total counter\na_total 1\n'],
    ['a type that there is not', '# HELP a A.\n# TYPE a number\na 1\n'],
    ['a sample before its type', `a_total 1\n${COUNTER}`],
    ['a sample of another family', `${COUNTER}b_total 1\n`],
    ['a family twice', `${COUNTER}a_total 1\n${COUNTER}a_total{x="1"} 1\n`],
    ['a series twice', `${COUNTER}a_total{x="1",y="2"} 1\na_total{y="2",x="1"} 1\n`],
    ['a label twice', `${COUNTER}a_total{x="1",x="2"} 1\n`],
    ['a label that is not closed', `${COUNTER}a_total{x="1} 1\n`],
    ['a label name that is none', `${COUNTER}a_total{1x="1"} 1\n`],
    ['no number', `${COUNTER}a_total one\n`],
    ['a counter that fell below 0', `${COUNTER}a_total -1\n`],
    ['a counter not named as one', '# HELP a A.\n# TYPE a counter\na 1\n'],
    ['a gauge named as a counter', '# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n'],
    ['milliseconds', '# HELP a_ms A.\n# TYPE a_ms gauge\na_ms 1\n'],
    [
      'buckets without infinity',
      `${HISTOGRAM}h_seconds_bucket{le="1"} 1\nh_seconds_sum 1\nh_seconds_count 1\n`,
    ],
    [
      'buckets that fall',
      `${HISTOGRAM}h_seconds_bucket{le="1"} 3\nh_seconds_bucket{le="+Inf"} 2\nh_seconds_sum 1\nh_seconds_count 2\n`,
    ],
    [
      'a count of more than the buckets have',
      `${HISTOGRAM}${BUCKETS}h_seconds_sum 1\nh_seconds_count 3\n`,
    ],
    ['a histogram without its sum', `${HISTOGRAM}${BUCKETS}h_seconds_count 2\n`],
  ])('finds fault with %s', (_, text) => {
    expect(() => parseExposition(text)).toThrow();
  });
});
