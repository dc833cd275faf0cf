import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { LabeledCounter, LabeledHistogram } from './instruments.ts';

describe('LabeledCounter', () => {
  it('exports every series that was asked for, one of them at 0', async () => {
    const registry = new Registry();
    const counter = new LabeledCounter(registry, {
      name: 'things_total',
      help: 'Things.',
      labelNames: ['kind', 'size'],
    });
    counter.series('a', 'x').add();
    counter.series('a', 'x').add(2);
    counter.series('b', 'x');
    for (const size of ['x', 'y', 'x']) counter.series('a', size).add(10);
    const text = [
      '# HELP things_total Things.',
      '# TYPE things_total counter',
      'things_total{kind="a",size="x"} 23',
      'things_total{kind="b",size="x"} 0',
      'things_total{kind="a",size="y"} 10',
      '',
    ].join('\n');
    // Twice: what is read out must not change what is counted.
    expect(await registry.metrics()).toBe(text);
    expect(await registry.metrics()).toBe(text);
  });
});

describe('LabeledHistogram', () => {
  it('exports cumulative buckets, a sum and a count; a value at a bound falls into its bucket', async () => {
    const registry = new Registry();
    const histogram = new LabeledHistogram(registry, {
      name: 'wait_seconds',
      help: 'Waits.',
      labelNames: ['kind'],
      buckets: [0.5, 1, 2],
    });
    const series = histogram.series('a');
    for (const value of [0.25, 0.5, 1.5, 8]) series.observe(value);
    expect(await registry.metrics()).toBe(
      [
        '# HELP wait_seconds Waits.',
        '# TYPE wait_seconds histogram',
        'wait_seconds_bucket{kind="a",le="0.5"} 2',
        'wait_seconds_bucket{kind="a",le="1"} 2',
        'wait_seconds_bucket{kind="a",le="2"} 3',
        'wait_seconds_bucket{kind="a",le="+Inf"} 4',
        'wait_seconds_sum{kind="a"} 10.25',
        'wait_seconds_count{kind="a"} 4',
        '',
      ].join('\n'),
    );
  });

  it('tells apart labels whose values only look alike when joined', () => {
    const histogram = new LabeledHistogram(new Registry(), {
      name: 'wait_seconds',
      help: 'Waits.',
      labelNames: ['a', 'b'],
      buckets: [1],
    });
    expect(histogram.series('x,y', 'z')).not.toBe(histogram.series('x', 'y,z'));
  });
});
