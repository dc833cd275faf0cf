import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { InjectConfig, type GatewayConfig } from '../../contract/gateway-config.ts';
import { overloaded } from '../../platform/errors/gateway-error.ts';
import { LOGGER } from '../../platform/log/create-logger.ts';
import type { StateMetric } from '../../platform/metrics/state-metric.ts';
import { HeldBytes } from '../../platform/memory/held-bytes.ts';
import type { Caller } from '../../platform/server/caller.ts';
import { Telemetry } from '../../platform/telemetry/telemetry.ts';

/** The open reads of callers of one kind, by their id. */
class ReadCounts {
  readonly max: number;
  private readonly byId = new Map<string, number>();

  constructor(max: number) {
    this.max = max;
  }

  /** The open reads of the caller that has the most. */
  get most(): number {
    let most = 0;
    for (const count of this.byId.values()) if (count > most) most = count;
    return most;
  }

  of(id: string): number {
    return this.byId.get(id) ?? 0;
  }

  set(id: string, count: number): void {
    if (count === 0) this.byId.delete(id);
    else this.byId.set(id, count);
  }
}

/**
 * Caps the open reads, so that neither one caller nor all of them together can exhaust the process. Beyond the caps
 * new reads are refused, and open reads stay.
 */
@Injectable()
export class OpenReadLimits {
  private readonly total: number;
  private readonly credentials: ReadCounts;
  private readonly subjects: ReadCounts;
  /** The subjects that reached their cap, each until it has fewer than half of it open: one at its cap swings there. */
  private readonly subjectsAtCap = new Set<string>();
  private open = 0;

  constructor(
    @InjectConfig() { limits }: GatewayConfig,
    private readonly held: HeldBytes,
    @Inject(LOGGER) private readonly logger: Logger,
    telemetry: Telemetry,
  ) {
    this.total = limits.maxOpenReads;
    this.credentials = new ReadCounts(limits.maxOpenReadsPerCredential);
    this.subjects = new ReadCounts(limits.maxOpenReadsPerSubject);
    telemetry.show(this);
  }

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_open_reads',
      help: 'Reads of streams and shapes under way.',
      read: () => this.open,
    },
    {
      name: 'gateway_open_reads_limit',
      help: 'Reads that may be open at once (GATEWAY_MAX_OPEN_READS).',
      read: () => this.total,
    },
    {
      name: 'gateway_open_reads_of_busiest_credential',
      help: 'Reads under way with the API key, or the read token without a subject, that has the most.',
      read: () => this.credentials.most,
    },
    {
      name: 'gateway_open_reads_per_credential_limit',
      help: 'Reads that may be open at once with one credential (GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL).',
      read: () => this.credentials.max,
    },
    {
      name: 'gateway_open_reads_of_busiest_subject',
      help: 'Reads under way with the read tokens of the subject that has the most.',
      read: () => this.subjects.most,
    },
    {
      name: 'gateway_open_reads_per_subject_limit',
      help: 'Reads that may be open at once with the read tokens of one subject (GATEWAY_MAX_OPEN_READS_PER_SUBJECT).',
      read: () => this.subjects.max,
    },
  ];

  /** Takes a place, which `leave` gives back. Throws `overloaded`. */
  enter(caller: Caller): void {
    if (this.held.isClosed) throw overloaded('memory', 'The gateway is short of memory');
    const counts = this.countsOf(caller);
    const ofCaller = counts.of(caller.id);
    if (this.open >= this.total) {
      throw overloaded('open_reads', 'The gateway has too many reads open');
    }
    if (ofCaller >= counts.max) this.refuse(caller, ofCaller);
    this.open++;
    counts.set(caller.id, ofCaller + 1);
  }

  /** Gives one place back. Call it once for each place. */
  leave(caller: Caller): void {
    this.open--;
    const counts = this.countsOf(caller);
    const left = counts.of(caller.id) - 1;
    counts.set(caller.id, left);
    if (left < counts.max / 2) this.subjectsAtCap.delete(caller.id);
  }

  private countsOf({ isSubject }: Caller): ReadCounts {
    return isSubject ? this.subjects : this.credentials;
  }

  private refuse(caller: Caller, openReads: number): never {
    if (!caller.isSubject) {
      throw overloaded('open_reads_per_credential', 'Too many reads are open with this credential');
    }
    if (!this.subjectsAtCap.has(caller.id)) {
      this.subjectsAtCap.add(caller.id);
      this.logger.warn(
        { subSha256: caller.id, openReads, setting: 'GATEWAY_MAX_OPEN_READS_PER_SUBJECT' },
        'a subject of read tokens has as many reads open as one may have',
      );
    }
    throw overloaded(
      'open_reads_per_subject',
      `The subject of this read token has ${openReads} reads open, as many as one may have. ` +
        'Mint the tokens of each user with a sub of that user alone, and close reads that nobody needs',
    );
  }
}
