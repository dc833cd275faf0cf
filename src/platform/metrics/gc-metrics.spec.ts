import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../test/support/until.ts';
import { gcMetric } from './gc-metrics.ts';

const { NODE_PERFORMANCE_GC_MINOR } = constants;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options: { type: 'minor' }) => void;

interface Sample {
  metricName?: string;
  labels: { kind?: string };
  value: number;
}

async function countsByKind(metric: ReturnType<typeof gcMetric>): Promise<[unknown, number][]> {
  const { values } = (await metric.get()) as { values: Sample[] };
  return values
    .filter(({ metricName }) => metricName === 'nodejs_gc_duration_seconds_count')
    .map(({ labels, value }) => [labels.kind, value]);
}

describe('garbage collections', () => {
  // The series of a kind was missing until the first collection of it, and a rate never saw that one.
  it('have a series of each kind before there was any', async () => {
    expect(await countsByKind(gcMetric())).toEqual([
      ['major', 0],
      ['minor', 0],
      ['incremental', 0],
      ['weakcb', 0],
    ]);
  });

  // Of those in one turn of the event loop the first alone was counted.
  it('are all counted, those too that Node tells of at once', async () => {
    const metric = gcMetric();
    let told = 0;
    const witness = new PerformanceObserver((list) => {
      const entries = list.getEntries() as (PerformanceEntry & { detail: { kind: number } })[];
      told += entries.filter(({ detail }) => detail.kind === NODE_PERFORMANCE_GC_MINOR).length;
    });
    witness.observe({ entryTypes: ['gc'] });
    // Five major ones of the heap of a whole run take half a minute on a busy machine.
    for (let i = 0; i < 5; i++) collectGarbage({ type: 'minor' });
    await until('Node tells of five', () => told >= 5);
    // Node tells all observers in the same turn.
    expect(new Map(await countsByKind(metric)).get('minor')).toBe(told);
    witness.disconnect();
  });
});
