import type { OnModuleDestroy } from '@nestjs/common';
import {
  calculateJwkThumbprint,
  compactVerify,
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  exportJWK,
  type CryptoKey,
  type JWK,
  type JSONWebKeySet,
} from 'jose';
import type { Logger } from 'pino';
import { within } from '../platform/clock/within.ts';
import type { StateMetric } from '../platform/metrics/state-metric.ts';
import type { JwkSetSource } from './jwk-set-source.ts';
import { TokenRefusal } from './read-token.ts';

/** How long anybody waits for the set. It is more than the source takes to give up a URL. */
const READ_TIMEOUT_MS = 4_000;

/** How often the gateway looks whether a read is due. */
const LOOK_INTERVAL_MS = 100;
/** The least time from the end of a read to the next one, also where a read takes longer than its interval. */
const MIN_PAUSE_MS = 500;

/** RFC 9864 §2.2 names EdDSA with the curve Ed25519 by the curve. */
const EDDSA_NAMES = ['EdDSA', 'Ed25519'];
export const JWKS_ALGORITHMS = [...EDDSA_NAMES, 'ES256', 'RS256'];

/** A token cannot be verified, because the key set was never read or may be out of date. */
export class KeysUnavailable extends Error {}

/** The payload of a token with a valid signature, and the key that made it. */
export interface VerifiedPayload {
  payload: Uint8Array;
  /** The key's name, as in `ReadToken.signedBy`. */
  signedBy: string;
}

type LocalKeySet = ReturnType<typeof createLocalJWKSet>;

/**
 * A cached JWK set. The gateway reads it again periodically, so that withdrawn keys are soon refused. A token that fits
 * none of its keys waits for a read that is under way or due. If the set cannot be read, the last known keys stay in
 * use, and other tokens are refused.
 */
export class TokenKeySet implements OnModuleDestroy {
  /** Grows with each change of the keys. */
  version = 0;
  private keys: LocalKeySet | undefined;
  /** The keys in use, whatever their order. */
  private content: string | undefined;
  /** The names of the keys in use, as in `ReadToken.signedBy`. */
  private names: ReadonlySet<string> = new Set();
  private readonly nameOf = new WeakMap<CryptoKey, string>();
  private triedAtMs = Number.NEGATIVE_INFINITY;
  private endedAtMs = Number.NEGATIVE_INFINITY;
  /** How many reads in a row have failed. */
  private failures = 0;
  private readAtMs: number;
  /** The read that tokens wait for. Undefined once it takes too long. */
  private loading: Promise<void> | undefined;
  private isReading = false;
  private timer: NodeJS.Timeout | undefined;

  private readonly source: JwkSetSource;
  private readonly logger: Pick<Logger, 'error' | 'info'>;
  private readonly now: () => number;

  /** `now` gives milliseconds that only grow. */
  constructor(
    source: JwkSetSource,
    logger: Pick<Logger, 'error' | 'info'>,
    now: () => number = () => performance.now(),
  ) {
    this.source = source;
    this.logger = logger;
    this.now = now;
    this.readAtMs = now();
  }

  readonly metrics: readonly StateMetric[] = [
    {
      name: 'gateway_token_keys_available',
      help: '1 where the key set of read tokens was had when it was last asked for.',
      read: () => Number(this.keys !== undefined && this.failures === 0),
    },
    {
      name: 'gateway_token_keys_age_seconds',
      help: 'Time since the key set of read tokens was last had, or since the start where it never was.',
      read: () => (this.now() - this.readAtMs) / 1_000,
    },
  ];

  /** Reads the set before the first token arrives, and then periodically until it is stopped. Never fails. */
  async start(): Promise<void> {
    this.timer = setInterval(() => void this.load(), LOOK_INTERVAL_MS).unref();
    await this.load();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Whether the key with this name (`ReadToken.signedBy`) is in use. */
  holds(name: string): boolean {
    return this.names.has(name);
  }

  /** Verifies the signature alone. Throws `TokenRefusal` or `KeysUnavailable`. */
  async verify(credential: string): Promise<VerifiedPayload> {
    if (this.keys === undefined) await this.load();
    const keysBefore = this.keys;
    try {
      return await this.verifyWithKnownKeys(credential);
    } catch (error) {
      // The key may be newer than the set: an unknown `kid`, or no `kid` and another key.
      await this.load();
      if (this.keys === keysBefore) throw this.refusal(error, credential);
    }
    return this.verifyWithKnownKeys(credential).catch((error: unknown) => {
      throw this.refusal(error, credential);
    });
  }

  private refusal(error: unknown, credential: string): Error {
    if (error instanceof KeysUnavailable) return error;
    // The set may be out of date and has no key with this `kid`, so the key may be a new one.
    const isOfUnknownKey =
      error instanceof errors.JWKSNoMatchingKey ||
      decodeProtectedHeader(credential).kid === undefined;
    if (isOfUnknownKey && this.failures > 0) {
      return new KeysUnavailable('the key set could not be refreshed', { cause: error });
    }
    return new TokenRefusal('signature', "The read token's signature is not valid here.", error);
  }

  private async verifyWithKnownKeys(credential: string): Promise<VerifiedPayload> {
    if (this.keys === undefined) throw new KeysUnavailable('the key set was never had');
    const options = { algorithms: JWKS_ALGORITHMS };
    try {
      const { payload, key } = await compactVerify(credential, this.keys, options);
      return { payload, signedBy: await this.nameOfKey(key as CryptoKey) };
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // A token without `kid`: any key of its kind may have signed it.
      for await (const key of error) {
        const verified = await compactVerify(credential, key, options).catch(() => undefined);
        if (verified) return { payload: verified.payload, signedBy: await this.nameOfKey(key) };
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  private async nameOfKey(key: CryptoKey): Promise<string> {
    const known = this.nameOf.get(key);
    if (known !== undefined) return known;
    const name = await thumbprint(await exportJWK(key));
    this.nameOf.set(key, name);
    return name;
  }

  /** When the next read may begin. */
  private get dueAtMs(): number {
    const { refreshMs, retryMs } = this.source;
    // One that fails once must not put off what has to be known soon.
    const intervalMs = this.failures > 1 ? retryMs : refreshMs;
    return Math.max(this.triedAtMs + intervalMs, this.endedAtMs + MIN_PAUSE_MS);
  }

  /** Reads the set, one read at a time and no more often than its source allows. */
  private load(): Promise<void> {
    if (this.loading) return this.loading;
    if (this.isReading || this.now() < this.dueAtMs) return Promise.resolve();
    this.triedAtMs = this.now();
    this.loading = this.inTime(this.readSet()).finally(() => {
      this.loading = undefined;
    });
    return this.loading;
  }

  /**
   * A read that takes too long has failed for all who wait, and nobody else waits for it. No other one begins meanwhile: a
   * network file system may never answer, and each read would hold a thread of the pool.
   */
  private async inTime(reading: Promise<void>): Promise<void> {
    this.isReading = true;
    const ended = reading
      .catch((error: unknown) => this.failed(error))
      .finally(() => {
        this.isReading = false;
        this.endedAtMs = this.now();
      });
    await within(READ_TIMEOUT_MS, ended);
    if (this.isReading) this.failed(new Error(`no answer within ${READ_TIMEOUT_MS} ms`));
  }

  private failed(error: unknown): void {
    if (this.failures++ === 0) {
      this.logger.error({ err: error }, 'the JWK set cannot be read; the keys in use are kept');
    }
  }

  private async readSet(): Promise<void> {
    const parsed = JSON.parse(await this.source.read()) as JSONWebKeySet;
    const { keys: jwks } = createLocalJWKSet(parsed).jwks();
    const content = jwks.map(canonical).sort().join();
    if (content !== this.content) {
      const usable = await usableKeys(jwks.map(forBothNames));
      // A server that has lost its keys for a moment does not withdraw them.
      if (usable.length === 0) throw new Error('the JWK set holds no key that can verify tokens');
      this.names = new Set(await Promise.all(usable.map(thumbprint)));
      this.keys = createLocalJWKSet({ keys: usable });
      this.content = content;
      this.version++;
      this.logger.info('the JWK set is loaded');
    } else if (this.failures > 0) {
      this.logger.info('the JWK set can be read again');
    }
    this.failures = 0;
    this.readAtMs = this.now();
  }
}

/** A key with one name of its algorithm, which verifies tokens with either. */
function forBothNames(jwk: JWK): JWK {
  const { alg, ...others } = jwk;
  return jwk.crv === 'Ed25519' && EDDSA_NAMES.includes(alg ?? '') ? others : jwk;
}

/** The keys with which a token can be verified. */
async function usableKeys(jwks: readonly JWK[]): Promise<JWK[]> {
  const areUsable = await Promise.all(
    jwks.map(async (jwk) => {
      const find = createLocalJWKSet({ keys: [jwk] });
      const found = JWKS_ALGORITHMS.map((alg) =>
        find({ alg }).then(
          () => true,
          () => false,
        ),
      );
      return (await Promise.all(found)).includes(true);
    }),
  );
  return jwks.filter((_, index) => areUsable[index]);
}

/** The same text for the same key, in whatever order its members stand. */
function canonical(jwk: JWK): string {
  const members = Object.entries(jwk).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(members);
}

/** Identifies a public key, whatever the form in which the set describes it (RFC 7638). */
async function thumbprint(jwk: JWK): Promise<string> {
  return `jwk:${await calculateJwkThumbprint(jwk)}`;
}
