import { timingSafeEqual } from 'node:crypto';
import type { SecretList } from '../config/secret-list.ts';

/** The API keys of this deployment, each valid at once, so that keys rotate without downtime. */
export class ApiKeys {
  private readonly digests: Pick<SecretList<Buffer>, 'entries'>;

  constructor(digests: Pick<SecretList<Buffer>, 'entries'>) {
    this.digests = digests;
  }

  /** Compares in constant time, and always with every key. */
  has(digest: Buffer): boolean {
    let found = false;
    for (const known of this.digests.entries) {
      if (timingSafeEqual(known, digest)) found = true;
    }
    return found;
  }
}
