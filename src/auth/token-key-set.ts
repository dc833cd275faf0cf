import { readFile } from 'node:fs/promises';
import {
  compactVerify,
  createLocalJWKSet,
  errors,
  type CompactVerifyResult,
  type JSONWebKeySet,
} from 'jose';
import type { Logger } from 'pino';
import { request } from 'undici';
import { TokenRefusal } from './read-token.ts';

export const JWKS_ALGORITHMS = ['EdDSA', 'ES256', 'RS256'];

/** How old a set may get before it is fetched again; a withdrawn key is refused after it. */
const REFRESH_AFTER_MS = 20_000;
/** The least time between two fetches, whatever unknown `kid`s are sent. */
const MIN_FETCH_INTERVAL_MS = 5_000;
const FETCH_TIMEOUT_MS = 5_000;
const MAX_SET_BYTES = 1_048_576;

/** A token cannot be judged: its key set was never had, or may be out of date. */
export class KeysUnavailable extends Error {}

type LocalKeySet = ReturnType<typeof createLocalJWKSet>;

/**
 * A JWK set from a file or an http(s) URL, cached. A set that cannot be had leaves the keys that
 * were had before in use, and never lets a token in.
 */
export class TokenKeySet {
  private keys: LocalKeySet | undefined;
  private loadedAtMs = Number.NEGATIVE_INFINITY;
  private triedAtMs = Number.NEGATIVE_INFINITY;
  private lastFailed = false;
  private loading: Promise<void> | undefined;

  private readonly source: string;
  private readonly logger: Logger;
  private readonly now: () => number;

  /** `now` gives milliseconds since 1970. */
  constructor(source: string, logger: Logger, now: () => number = Date.now) {
    this.source = source;
    this.logger = logger;
    this.now = now;
  }

  /** Fetches the set ahead of the first token. Never fails. */
  async warmUp(): Promise<void> {
    await this.load();
  }

  /** Verifies the signature alone. Throws `TokenRefusal` or `KeysUnavailable`. */
  async verify(credential: string): Promise<CompactVerifyResult> {
    if (this.keys === undefined) await this.load();
    else if (this.now() - this.loadedAtMs > REFRESH_AFTER_MS) void this.load();
    const keysBefore = this.keys;
    try {
      return await this.verifyWithKnownKeys(credential);
    } catch (error) {
      // The key may be newer than the set: an unknown `kid`, or no `kid` and another key.
      await this.load();
      if (this.keys === keysBefore) throw this.refusal(error);
    }
    return this.verifyWithKnownKeys(credential).catch((error: unknown) => {
      throw this.refusal(error);
    });
  }

  private refusal(error: unknown): Error {
    if (error instanceof KeysUnavailable) return error;
    if (error instanceof errors.JWKSNoMatchingKey && this.lastFailed) {
      return new KeysUnavailable('the key set could not be refreshed', { cause: error });
    }
    return new TokenRefusal('signature', "The read token's signature is not valid here.", error);
  }

  private async verifyWithKnownKeys(credential: string): Promise<CompactVerifyResult> {
    if (this.keys === undefined) throw new KeysUnavailable('the key set was never had');
    const options = { algorithms: JWKS_ALGORITHMS };
    try {
      return await compactVerify(credential, this.keys, options);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // A token without `kid`: any key of its kind may have signed it.
      for await (const key of error) {
        const verified = await compactVerify(credential, key, options).catch(() => undefined);
        if (verified) return verified;
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  /** Fetches the set, one fetch at a time and no more than one in `MIN_FETCH_INTERVAL_MS`. */
  private load(): Promise<void> {
    if (this.loading) return this.loading;
    if (this.now() - this.triedAtMs < MIN_FETCH_INTERVAL_MS) return Promise.resolve();
    this.triedAtMs = this.now();
    this.loading = this.fetchSet()
      .then((set) => {
        this.keys = createLocalJWKSet(set);
        this.loadedAtMs = this.now();
        this.lastFailed = false;
      })
      .catch((error: unknown) => {
        this.lastFailed = true;
        this.logger.error({ err: error }, 'the JWK set cannot be had; the keys in use are kept');
      })
      .finally(() => {
        this.loading = undefined;
      });
    return this.loading;
  }

  private async fetchSet(): Promise<JSONWebKeySet> {
    if (!/^https?:\/\//i.test(this.source)) {
      return JSON.parse(await readFile(this.source, 'utf8')) as JSONWebKeySet;
    }
    const { statusCode, body } = await request(this.source, {
      headersTimeout: FETCH_TIMEOUT_MS,
      bodyTimeout: FETCH_TIMEOUT_MS,
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
      headers: { accept: 'application/jwk-set+json, application/json' },
    });
    if (statusCode !== 200) {
      await body.dump();
      throw new Error(`the JWK set's server answered ${statusCode}`);
    }
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_SET_BYTES) throw new Error(`the JWK set is over ${MAX_SET_BYTES} bytes`);
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as JSONWebKeySet;
  }
}
