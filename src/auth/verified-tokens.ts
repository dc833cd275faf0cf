import type { ReadToken } from './read-token.ts';

/**
 * A cache of verified read tokens: a client sends the same token with every long-poll, and only the first one is
 * verified. Tokens are stored by digest, never as such. The least recently used one makes room for the next. The cache is
 * emptied when the keys change, because a token of a withdrawn key must not stay valid.
 */
export class VerifiedTokens {
  private readonly maxTokens: number;
  private readonly tokens = new Map<string, ReadToken>();
  private secrets: unknown;
  private keySet: unknown;

  constructor(maxTokens: number) {
    this.maxTokens = maxTokens;
  }

  /** `secrets` and `keySet` are those in use now, compared by identity. */
  get(digest: string, secrets: unknown, keySet: unknown): ReadToken | undefined {
    this.forgetUnless(secrets, keySet);
    const token = this.tokens.get(digest);
    if (!token) return undefined;
    // A Map iterates in the order of insertion: the first entry is the least recently used one.
    this.tokens.delete(digest);
    this.tokens.set(digest, token);
    return token;
  }

  /** Remembers a token that was verified with the very keys in use now. */
  add(digest: string, token: ReadToken, secrets: unknown, keySet: unknown): void {
    this.forgetUnless(secrets, keySet);
    if (this.tokens.size >= this.maxTokens) {
      const { value: leastRecent } = this.tokens.keys().next();
      if (leastRecent !== undefined) this.tokens.delete(leastRecent);
    }
    this.tokens.set(digest, token);
  }

  delete(digest: string): void {
    this.tokens.delete(digest);
  }

  private forgetUnless(secrets: unknown, keySet: unknown): void {
    if (secrets === this.secrets && keySet === this.keySet) return;
    this.tokens.clear();
    this.secrets = secrets;
    this.keySet = keySet;
  }
}
