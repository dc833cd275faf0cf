import { overloaded } from '../errors/gateway-error.ts';
import type { HeldBytes } from '../memory/held-bytes.ts';

export interface OpenReadCaps {
  /** Reads open at once, of all callers together. */
  total: number;
  /** Reads open at once with one credential. */
  perCredential: number;
}

/**
 * Caps the open reads, so that neither one caller nor all of them together can exhaust the process. Beyond the caps
 * new reads are refused, and open reads stay.
 */
export class OpenReadLimits {
  private readonly caps: OpenReadCaps;
  private readonly byCredential = new Map<string, number>();
  private readonly held: Pick<HeldBytes, 'isClosed'>;
  private open = 0;

  constructor(caps: OpenReadCaps, held: Pick<HeldBytes, 'isClosed'>) {
    this.caps = caps;
    this.held = held;
  }

  get openReads(): number {
    return this.open;
  }

  /** The open reads of the credential that has the most. */
  get mostOfOneCredential(): number {
    let most = 0;
    for (const count of this.byCredential.values()) if (count > most) most = count;
    return most;
  }

  /** Takes a place, which `leave` gives back. Throws `overloaded`. */
  enter(credentialId: string): void {
    if (this.held.isClosed) throw overloaded('memory', 'The gateway is short of memory');
    const ofCredential = this.byCredential.get(credentialId) ?? 0;
    if (this.open >= this.caps.total) {
      throw overloaded('open_reads', 'The gateway has too many reads open');
    }
    if (ofCredential >= this.caps.perCredential) {
      throw overloaded('open_reads_per_credential', 'Too many reads are open with this credential');
    }
    this.open++;
    this.byCredential.set(credentialId, ofCredential + 1);
  }

  /** Gives one place back. Call it once for each place. */
  leave(credentialId: string): void {
    this.open--;
    const left = (this.byCredential.get(credentialId) ?? 1) - 1;
    if (left === 0) this.byCredential.delete(credentialId);
    else this.byCredential.set(credentialId, left);
  }
}
