import { APIError } from './api-error.ts';
import { secretText } from './secret-text.ts';

/** The result of `authCallback`: a read token that your back end minted. */
export interface MintedToken {
  token: string;
  /** The remaining lifetime of the token in seconds. */
  ttlSeconds: number;
}

/** Throw it in `authCallback` when the user has signed out: every read ends with the code `session_ended`. */
export class SessionEnded extends Error {
  override readonly name = 'SessionEnded';
}

/** The credential of a client. Give one of them. */
export interface CredentialOptions {
  /** For servers: an API key, or a function that returns the current one. Never put an API key into a page. */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /**
   * For pages: fetches a read token from your back end. Called before the first read and before each token expires. If it
   * rejects, reads wait and call it again, except after a `SessionEnded`.
   */
  authCallback?: (() => Promise<MintedToken>) | undefined;
}

/** How long before its expiry a token is renewed. A short-lived one is renewed at half its life. */
const RENEW_AHEAD_MS = 30_000;
/** With a shorter life, tokens are renewed more often than the gateway is read. */
const SHORT_LIFE_SECONDS = 10;
/** A token is used for this long, also one that is over when it comes: without it every request would ask for another. */
const SHORTEST_USE_MS = 250;
/** A callback without a result by then has failed, and is called again. */
const CALLBACK_TIMEOUT_MS = 20_000;

/** The credential of requests. */
export class Credential {
  readonly #options: CredentialOptions;
  #token = '';
  #renewAtMs = 0;
  #pending: Promise<void> | undefined;
  #ended: APIError | undefined;
  #hasWarned = false;

  constructor(options: CredentialOptions) {
    if (options.apiKey !== undefined && options.authCallback !== undefined) {
      throw new TypeError('Give either apiKey or authCallback, not both.');
    }
    if (typeof options.apiKey === 'string') checked(options.apiKey);
    this.#options = options;
  }

  /** Whether a refused credential may be a new one at the next attempt. */
  get isRenewable(): boolean {
    return this.#options.authCallback !== undefined || typeof this.#options.apiKey === 'function';
  }

  /** The value for `Authorization`, or undefined without a credential. Rejects with an `APIError`. */
  async authorization(): Promise<string | undefined> {
    if (this.#ended) throw this.#ended;
    try {
      return await this.#current();
    } catch (cause) {
      if (cause instanceof Error && cause.name === 'SessionEnded') {
        const message = `The session has ended${cause.message && `: ${cause.message}`}.`;
        throw (this.#ended = new APIError(message, { code: 'session_ended', cause }));
      }
      const message = `The credential is not available: ${cause instanceof Error ? cause.message : String(cause)}`;
      throw new APIError(message, { code: 'credential_unavailable', isSafeToRetry: true, cause });
    }
  }

  async #current(): Promise<string | undefined> {
    const { apiKey, authCallback } = this.#options;
    if (apiKey !== undefined) {
      return `Bearer ${checked(typeof apiKey === 'string' ? apiKey : await apiKey())}`;
    }
    if (!authCallback) return undefined;
    // Only durations are used, because a page's clock may be wrong.
    if (performance.now() >= this.#renewAtMs) {
      const pending = (this.#pending ??= this.#renew(authCallback));
      try {
        await pending;
      } finally {
        if (this.#pending === pending) this.#pending = undefined;
      }
    }
    return `Bearer ${this.#token}`;
  }

  /** The time until a token from a callback is renewed, in milliseconds. Undefined for an API key. */
  get renewInMs(): number | undefined {
    if (!this.#options.authCallback) return undefined;
    return Math.max(0, this.#renewAtMs - performance.now());
  }

  /** Called when the sent token is no longer enough, even before its expiry: the next request asks for another. */
  refused(authorization: string | undefined): void {
    if (authorization === `Bearer ${this.#token}`) this.#renewAtMs = 0;
  }

  /** The callback is called again by the next request, also if it has not answered yet. */
  forgetPending(): void {
    this.#pending = undefined;
  }

  async #renew(authCallback: () => Promise<MintedToken>): Promise<void> {
    const askedAtMs = performance.now();
    const { token, ttlSeconds } = await inTime(authCallback());
    if (!(ttlSeconds > 0)) throw new TypeError('authCallback must answer {token, ttlSeconds}.');
    if (ttlSeconds < SHORT_LIFE_SECONDS && !this.#hasWarned) {
      this.#hasWarned = true;
      // oxlint-disable-next-line no-console -- for the developer of a page, who may not watch `onState`
      console.warn(
        `agent-gateway: authCallback gave a token that lives for ${ttlSeconds} s, so it is called very often. Tokens should live for ${SHORT_LIFE_SECONDS} s or longer.`,
      );
    }
    const ttlMs = ttlSeconds * 1_000;
    this.#token = checked(token);
    const renewAtMs = askedAtMs + ttlMs - Math.min(RENEW_AHEAD_MS, ttlMs / 2);
    this.#renewAtMs = Math.max(renewAtMs, performance.now() + SHORTEST_USE_MS);
  }
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = (): void => reject(new Error('authCallback did not answer in time'));
  const timer = setTimeout(late, CALLBACK_TIMEOUT_MS);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Throws a TypeError that does not contain the key, unlike that of `fetch`. */
function checked(credential: unknown): string {
  const text = typeof credential === 'string' ? secretText(credential) : '';
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new TypeError('A credential must be visible ASCII characters without spaces.');
}
