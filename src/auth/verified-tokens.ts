import type { ReadToken } from './read-token.ts';

/** So many tokens are remembered; the one that was verified longest ago makes room. */
const MAX_TOKENS = 10_000;

/**
 * Read tokens that have been verified, so that a client that comes back with the same one, as with
 * every long-poll, costs one verification. Known by their digest, never as such, and forgotten all at
 * once when the keys change: a token of a withdrawn key must not live on here.
 */
export class VerifiedTokens {
  private readonly tokens = new Map<string, ReadToken>();
  private secrets: unknown;
  private keySet: unknown;

  /** `secrets` and `keySet` are those in use now, told from others by identity. */
  get(digest: string, secrets: unknown, keySet: unknown): ReadToken | undefined {
    this.forgetUnless(secrets, keySet);
    return this.tokens.get(digest);
  }

  /** Remembers a token that was verified with the very keys in use now. */
  add(digest: string, token: ReadToken, secrets: unknown, keySet: unknown): void {
    this.forgetUnless(secrets, keySet);
    const [oldest] = this.tokens.size >= MAX_TOKENS ? this.tokens.keys() : [];
    if (oldest !== undefined) this.tokens.delete(oldest);
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
