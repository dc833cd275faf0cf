import { timingSafeEqual } from 'node:crypto';
import { isKey, type ApiKey } from '../config/api-key.ts';
import type { SecretList } from '../config/secret-list.ts';

/** The API keys of this deployment. All are valid at the same time, so that keys rotate without downtime. */
export class ApiKeys {
  private readonly keys: Pick<SecretList<ApiKey>, 'entries'>;

  constructor(keys: Pick<SecretList<ApiKey>, 'entries'>) {
    this.keys = keys;
  }

  /** The keys in use, to be compared by identity: changed keys are a new object. */
  get version(): unknown {
    return this.keys.entries;
  }

  /** The key that this credential is. `digest` is its SHA-256. */
  keyOf(credential: string, digest: Buffer): ApiKey | undefined {
    return isKey(credential) ? this.find(digest) : undefined;
  }

  /** The key with this SHA-256. Compares in constant time, and always with every key. */
  find(digest: Buffer): ApiKey | undefined {
    let found: ApiKey | undefined;
    for (const key of this.keys.entries) {
      if (timingSafeEqual(key.digest, digest)) found ??= key;
    }
    return found;
  }
}
