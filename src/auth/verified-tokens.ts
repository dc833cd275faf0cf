import { RecentMap } from '../platform/collections/recent-map.ts';
import type { ReadToken } from './read-token.ts';

/**
 * A cache of verified read tokens: a client sends the same token with every long-poll, and only the first one is
 * verified. Tokens are stored by digest, never as such. The cache is emptied when the keys change, because a token of a
 * withdrawn key must not stay valid.
 */
export class VerifiedTokens {
  private readonly tokens: RecentMap<ReadToken>;
  private secrets: unknown;
  private keySet: unknown;

  /** It holds the `maxTokens` tokens last used, and at most twice as many. */
  constructor(maxTokens: number) {
    this.tokens = new RecentMap(maxTokens);
  }

  /** `secrets` and `keySet` are those in use now, compared by identity. */
  get(digest: string, secrets: unknown, keySet: unknown): ReadToken | undefined {
    this.forgetUnless(secrets, keySet);
    return this.tokens.get(digest);
  }

  /** Stores a token that was verified with exactly these keys. */
  add(digest: string, token: ReadToken, secrets: unknown, keySet: unknown): void {
    this.forgetUnless(secrets, keySet);
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
