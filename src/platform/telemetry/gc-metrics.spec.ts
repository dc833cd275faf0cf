import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../test/support/until.ts';
import { gcMetric } from './gc-metrics.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options: { type: 'minor' }) => void;

const LONG_MS = 120_000;

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
  it(
    'are all counted, those too that Node tells of at once',
    async () => {
      const metric = gcMetric();
      // Two, because each takes seconds for the heap of a whole run of Jest on a busy machine.
      collectGarbage();
      collectGarbage();
      const majors = async (): Promise<number> =>
        new Map(await countsByKind(metric)).get('major') ?? 0;
      await until('a major collection is counted', async () => (await majors()) > 0);
      expect(await majors()).toBeGreaterThanOrEqual(2);
    },
    LONG_MS,
  );
});
