import { timingSafeEqual } from 'node:crypto';
import type { SecretList } from '../config/secret-list.ts';
import { credentialId } from './bearer.ts';

/** The API keys of this deployment, each valid at once, so that keys rotate without downtime. */
export class ApiKeys {
  private readonly digests: Pick<SecretList<Buffer>, 'entries'>;
  private readonly ids = new WeakMap<Buffer, string>();

  constructor(digests: Pick<SecretList<Buffer>, 'entries'>) {
    this.digests = digests;
  }

  /**
   * What tells the key with this digest from other credentials, undefined where there is none. Compares in
   * constant time, and always with every key.
   */
  idOf(digest: Buffer): string | undefined {
    let found: Buffer | undefined;
    for (const known of this.digests.entries) {
      if (timingSafeEqual(known, digest)) found = known;
    }
    return found && this.idFor(found);
  }

  private idFor(known: Buffer): string {
    let id = this.ids.get(known);
    if (id === undefined) this.ids.set(known, (id = credentialId(known)));
    return id;
  }
}
