import type { ReadToken } from './read-token.ts';

interface Entry {
  token: ReadToken;
  /** Whether it was used since the hand has last passed it. */
  wasUsed: boolean;
}

/**
 * A cache of verified read tokens: a client sends the same token with every long-poll, and only the first one is
 * verified. Tokens are stored by digest, never as such. The cache is emptied when the keys change, because a token of a
 * withdrawn key must not stay valid.
 *
 * A token that was not used lately makes room for the next one (the CLOCK algorithm). An exact order of use would write to
 * the map with every read: with 40,000 tokens that doubled the processor time of a read, for garbage collection.
 */
export class VerifiedTokens {
  private readonly maxTokens: number;
  private readonly tokens = new Map<string, Entry>();
  private hand: MapIterator<[string, Entry]> | undefined;
  private secrets: unknown;
  private keySet: unknown;

  constructor(maxTokens: number) {
    this.maxTokens = maxTokens;
  }

  /** `secrets` and `keySet` are those in use now, compared by identity. */
  get(digest: string, secrets: unknown, keySet: unknown): ReadToken | undefined {
    this.forgetUnless(secrets, keySet);
    const entry = this.tokens.get(digest);
    if (!entry) return undefined;
    entry.wasUsed = true;
    return entry.token;
  }

  /** Remembers a token that was verified with the very keys in use now. */
  add(digest: string, token: ReadToken, secrets: unknown, keySet: unknown): void {
    if (this.maxTokens <= 0) return;
    this.forgetUnless(secrets, keySet);
    if (this.tokens.size >= this.maxTokens && !this.tokens.has(digest)) this.makeRoom();
    this.tokens.set(digest, { token, wasUsed: false });
  }

  delete(digest: string): void {
    this.tokens.delete(digest);
  }

  /** Moves the hand to the next token that was not used since it last passed, and drops that one. */
  private makeRoom(): void {
    for (;;) {
      this.hand ??= this.tokens.entries();
      const { value, done } = this.hand.next();
      if (done) {
        this.hand = undefined;
        continue;
      }
      const [digest, entry] = value;
      if (!entry.wasUsed) {
        this.tokens.delete(digest);
        return;
      }
      entry.wasUsed = false;
    }
  }

  private forgetUnless(secrets: unknown, keySet: unknown): void {
    if (secrets === this.secrets && keySet === this.keySet) return;
    this.tokens.clear();
    this.hand = undefined;
    this.secrets = secrets;
    this.keySet = keySet;
  }
}
