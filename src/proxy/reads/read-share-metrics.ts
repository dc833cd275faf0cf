import { Injectable } from '@nestjs/common';
import type { LiveMode } from '../../platform/http/live-mode.ts';
import { Telemetry } from '../../platform/telemetry/telemetry.ts';
import { LabeledCounter } from '../../platform/metrics/instruments.ts';

/** A read that waits for new data, or one that is answered at once. */
export type ReadMode = LiveMode | 'catch-up';

/**
 * How a reader got its response. `first`: from an upstream request that was sent for it. `joined`: from one that
 * was sent for another reader. `apart`: from one of its own, because it cannot share one (sharing is off, it reads
 * from now on, or a response depends on its reader or is too large).
 */
export type ReadShare = 'first' | 'joined' | 'apart';

const MODES: readonly ReadMode[] = ['catch-up', 'long-poll', 'sse'];
const SHARES: readonly ReadShare[] = ['first', 'joined', 'apart'];

/** The counters of shared reads. The number of upstream requests is `first` plus `apart`. */
@Injectable()
export class ReadShareMetrics {
  private readonly reads;

  constructor({ registry }: Telemetry) {
    this.reads = new LabeledCounter(registry, {
      name: 'gateway_shared_reads_total',
      help: 'Reads by how they were served: the first of an upstream request, joined to one, or apart from others.',
      labelNames: ['mode', 'share'],
    });
    for (const mode of MODES) for (const share of SHARES) this.reads.series(mode, share);
  }

  /** Counts a reader once. `mode` is the mode of its request, undefined for a catch-up read. */
  count(mode: LiveMode | undefined, share: ReadShare): void {
    this.reads.series(mode ?? 'catch-up', share).add();
  }
}
