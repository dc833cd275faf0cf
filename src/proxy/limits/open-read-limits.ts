import { overloaded } from '../../platform/errors/gateway-error.ts';
import type { StateMetric } from '../../platform/metrics/state-metric.ts';
import type { HeldBytes } from '../../platform/memory/held-bytes.ts';
import type { Caller } from '../../platform/server/caller.ts';

export interface OpenReadCaps {
  /** Reads open at once, of all callers together. */
  total: number;
  /** Reads open at once with one API key, or one read token without a subject. */
  perCredential: number;
  /** Reads open at once with all read tokens of one subject. */
  perSubject: number;
}

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
export class OpenReadLimits {
  private readonly total: number;
  private readonly credentials: ReadCounts;
  private readonly subjects: ReadCounts;
  /** The subjects that reached their cap, each until it has fewer than half of it open: one at its cap swings there. */
  private readonly subjectsAtCap = new Set<string>();
  private readonly held: Pick<HeldBytes, 'isClosed'>;
  private readonly onSubjectAtCap: (subject: Caller, openReads: number) => void;
  private open = 0;

  /** `onSubjectAtCap` hears of a subject whose reads begin to be refused. */
  constructor(
    { total, perCredential, perSubject }: OpenReadCaps,
    held: Pick<HeldBytes, 'isClosed'>,
    onSubjectAtCap: (subject: Caller, openReads: number) => void,
  ) {
    this.total = total;
    this.credentials = new ReadCounts(perCredential);
    this.subjects = new ReadCounts(perSubject);
    this.held = held;
    this.onSubjectAtCap = onSubjectAtCap;
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
      this.onSubjectAtCap(caller, openReads);
    }
    throw overloaded(
      'open_reads_per_subject',
      `The subject of this read token has ${openReads} reads open, as many as one may have. ` +
        'Mint the tokens of each user with a sub of that user alone, and close reads that nobody needs',
    );
  }
}
