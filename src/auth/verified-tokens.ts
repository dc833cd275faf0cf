import type { ReadToken } from './read-token.ts';

/**
 * A cache of verified read tokens: a client sends the same token with every long-poll, and only the first one is
 * verified. Tokens are stored by digest, never as such. The cache is emptied when the keys change, because a token of a
 * withdrawn key must not stay valid.
 *
 * It consists of two maps. When the newer one is full, it becomes the older one, and what the older one held is dropped. A
 * token that is used moves from the older map to the newer one. So the cache holds the `maxTokens` tokens last used, and
 * at most twice as many, and a read of a token in the newer map writes nothing. A least recently used order would write
 * with every read.
 */
export class VerifiedTokens {
  private readonly maxTokens: number;
  private newer = new Map<string, ReadToken>();
  private older = new Map<string, ReadToken>();
  private secrets: unknown;
  private keySet: unknown;

  constructor(maxTokens: number) {
    this.maxTokens = maxTokens;
  }

  /** `secrets` and `keySet` are those in use now, compared by identity. */
  get(digest: string, secrets: unknown, keySet: unknown): ReadToken | undefined {
    this.forgetUnless(secrets, keySet);
    const newer = this.newer.get(digest);
    if (newer) return newer;
    const older = this.older.get(digest);
    if (older) this.put(digest, older);
    return older;
  }

  /** Stores a token that was verified with exactly these keys. */
  add(digest: string, token: ReadToken, secrets: unknown, keySet: unknown): void {
    if (this.maxTokens <= 0) return;
    this.forgetUnless(secrets, keySet);
    this.put(digest, token);
  }

  delete(digest: string): void {
    this.newer.delete(digest);
    this.older.delete(digest);
  }

  private put(digest: string, token: ReadToken): void {
    if (this.newer.size >= this.maxTokens && !this.newer.has(digest)) {
      this.older = this.newer;
      this.newer = new Map();
    }
    this.newer.set(digest, token);
  }

  private forgetUnless(secrets: unknown, keySet: unknown): void {
    if (secrets === this.secrets && keySet === this.keySet) return;
    this.newer = new Map();
    this.older = new Map();
    this.secrets = secrets;
    this.keySet = keySet;
  }
}
