import { postJson, RefusedError } from './post-json.js';

/** No parked read of the catalog, 20 s, should outlive its token where the token lives that long. */
const MARGIN_MS = 25_000;
const RETRY_MS = 1_000;

/**
 * A read token for one prefix. It is all that this page ever holds: our own back end mints it, and
 * the readers ask for it anew with every request, so that a fresh one is used before the old ends.
 */
export class ReadToken {
  #prefix;
  #report;
  #token;
  #freshUntilMs = 0;
  #pending;

  constructor(prefix, report) {
    this.#prefix = prefix;
    this.#report = report;
  }

  /** For a client's header function: the value of `Authorization`. */
  async authorization() {
    if (Date.now() >= this.#freshUntilMs) {
      // Two requests at once wait for the same token.
      this.#pending ??= this.#fetch().finally(() => (this.#pending = undefined));
      await this.#pending;
    }
    return `Bearer ${this.#token}`;
  }

  /** After a 401: what is held is of no use, whatever the clock says. */
  drop() {
    this.#freshUntilMs = 0;
  }

  async #fetch() {
    for (;;) {
      // Counted from before the request, so that a slow answer never makes it seem younger.
      const askedAtMs = Date.now();
      try {
        const { token, ttlSeconds } = await postJson('/token', { prefix: this.#prefix });
        const ttlMs = ttlSeconds * 1_000;
        this.#token = token;
        this.#freshUntilMs = askedAtMs + ttlMs - Math.min(MARGIN_MS, ttlMs / 2);
        return;
      } catch (error) {
        const refused = error instanceof RefusedError && error.status < 500;
        this.#report(
          refused
            ? { state: 'refused', detail: error.message }
            : { state: 'no-console', detail: 'trying again' },
        );
        // It stays an error of ours: a client that is handed it would stop for good.
        await new Promise((resolve) => setTimeout(resolve, refused ? RETRY_MS * 10 : RETRY_MS));
      }
    }
  }
}
