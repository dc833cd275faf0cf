import { timingSafeEqual } from 'node:crypto';
import { isKey, type ApiKey } from '../contract/api-key.ts';
import type { CurrentCredentials } from '../platform/log/logged-paths.ts';
import type { SecretList } from '../platform/config/secret-list.ts';
import { credentialDigest } from './bearer.ts';

/** The API keys of this deployment. All are valid at the same time, so that keys rotate without downtime. */
export class ApiKeys implements CurrentCredentials {
  private readonly keys: Pick<SecretList<ApiKey>, 'entries' | 'version'>;

  constructor(keys: Pick<SecretList<ApiKey>, 'entries' | 'version'>) {
    this.keys = keys;
  }

  /** Grows with each change of the keys in use. */
  get version(): number {
    return this.keys.version;
  }

  /** Whether a text of any kind is a key. It takes a digest of what has the length of one. */
  isCredential(text: string): boolean {
    const { entries } = this.keys;
    // A key that is given as its digest can have any length.
    const canBeKey = entries.some(({ length = text.length }) => length === text.length);
    return canBeKey && this.find(credentialDigest(text)) !== undefined;
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
