/** The response of your back end. */
export interface MintedToken {
  token: string;
  ttlSeconds: number;
}

/** A read token that is renewed before it expires. */
export class ReadToken {
  #mint: () => Promise<MintedToken>;
  #marginMs: number;
  #token = '';
  #renewAtMs = 0;
  #pending: Promise<void> | undefined;

  constructor(mint: () => Promise<MintedToken>, marginMs = 30_000) {
    this.#mint = mint;
    this.#marginMs = marginMs;
  }

  /** For a client's header function. */
  async authorization(): Promise<string> {
    if (Date.now() >= this.#renewAtMs) {
      this.#pending ??= this.#renew().finally(() => (this.#pending = undefined));
      await this.#pending;
    }
    return `Bearer ${this.#token}`;
  }

  /** After a 401: whatever the clock says, this token is of no use. */
  drop(): void {
    this.#renewAtMs = 0;
  }

  async #renew(): Promise<void> {
    const askedAtMs = Date.now();
    const { token, ttlSeconds } = await this.#mint();
    const ttlMs = ttlSeconds * 1000;
    this.#token = token;
    this.#renewAtMs = askedAtMs + ttlMs - Math.min(this.#marginMs, ttlMs / 2);
  }
}
