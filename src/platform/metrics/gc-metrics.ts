import {
  constants,
  PerformanceObserver,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
} from 'node:perf_hooks';
import { Histogram, type Metric } from 'prom-client';

const MS_PER_SECOND = 1_000;
const KINDS = new Map<number, string>([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** Node's types lack the details of a garbage collection. */
type GcEntry = PerformanceEntry & { detail: NodeGCPerformanceDetail };

/**
 * Measures the duration of garbage collections until the process ends. It replaces prom-client's metric of the same
 * name, which counts only one collection of each of Node's reports (51 of 417 in a busy second), and has no series
 * before the first collection of a kind.
 */
export function gcMetric(): Metric {
  const histogram = new Histogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Garbage collections by kind: major, minor, incremental or weakcb.',
    labelNames: ['kind'],
    buckets: [0.001, 0.01, 0.1, 1, 2, 5],
    registers: [],
  });
  for (const kind of KINDS.values()) histogram.zero({ kind });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as GcEntry[]) {
      const kind = KINDS.get(entry.detail.kind);
      if (kind !== undefined) histogram.observe({ kind }, entry.duration / MS_PER_SECOND);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return histogram;
}
