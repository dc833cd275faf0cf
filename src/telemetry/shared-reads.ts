import type { Registry } from 'prom-client';
import { LabeledCounter, type CounterSeries } from './instruments.ts';

/** How a read waits for what is new: parked until it comes, or as an open stream of events. */
export type LiveMode = 'long-poll' | 'sse';

/** A read that waits for what is new, or one that is answered at once. */
export type ReadMode = LiveMode | 'catch-up';

/**
 * How a reader got its answer: from an upstream request of the group's that it was the first of; from
 * one that others had made; or from one of its own, because the group's would not do for it (an answer
 * too large, a replay buffer outrun, a reader too slow).
 */
export type ReadShare = 'first' | 'joined' | 'apart';

const MODES: readonly ReadMode[] = ['catch-up', 'long-poll', 'sse'];
const SHARES: readonly ReadShare[] = ['first', 'joined', 'apart'];

/** What the engine of shared reads counts. Upstream requests that it sent are `first` plus `apart`. */
export class SharedReads {
  private readonly counts = new Map<ReadMode, Map<ReadShare, CounterSeries>>();

  constructor(registry: Registry) {
    const reads = new LabeledCounter(registry, {
      name: 'gateway_shared_reads_total',
      help: 'Reads by how they were served: the first of an upstream request, joined to one, or apart from others.',
      labelNames: ['mode', 'share'],
    });
    for (const mode of MODES) {
      const shares = SHARES.map((share) => [share, reads.series({ mode, share })] as const);
      this.counts.set(mode, new Map(shares));
    }
  }

  /** Counts a reader, each once; `mode` is that of its request's context, undefined for a catch-up. */
  count(mode: LiveMode | undefined, share: ReadShare): void {
    this.counts
      .get(mode ?? 'catch-up')
      ?.get(share)
      ?.add();
  }
}
