import type { OnModuleDestroy } from '@nestjs/common';
import { hash, type KeyObject } from 'node:crypto';
import { compactVerify, decodeProtectedHeader, type CompactVerifyResult } from 'jose';
import { LRUCache } from 'lru-cache';
import type { SecretList } from '../platform/config/secret-list.ts';
import type { Caller } from '../platform/server/caller.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { isJsonObject } from '../platform/http/parsed-json.ts';
import { credentialDigest, invalidCredentials } from './bearer.ts';
import { JWKS_ALGORITHMS } from './jwk-set.ts';
import type { TokenKeySet } from './token-key-set.ts';
import { readTokenFromClaims, type ClaimRules, type ReadToken } from './read-token.ts';

const SECRET_ALGORITHM = 'HS256';
const COMPACT_JWS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

export interface VerifierRules extends ClaimRules {
  /** How many of the tokens last used the cache holds, at least 1. Any other one is verified again. */
  maxKnownTokens: number;
}

/** The payload of a token with a valid signature, and the name of the key that made it. */
interface VerifiedPayload {
  payload: Uint8Array;
  signedBy: string;
}

/**
 * Verifies read tokens: the signature first, then the claims. A client sends the same token with every long-poll, so
 * those last used are known by their digest. They are verified again when the keys have changed, because a token of a
 * withdrawn key must not stay valid.
 */
export class ReadTokenVerifier implements OnModuleDestroy {
  private readonly secrets: Pick<SecretList<Buffer>, 'entries' | 'version'>;
  private readonly keySet: TokenKeySet | undefined;
  private readonly rules: ClaimRules;
  private readonly now: () => number;
  /** The tokens that the keys of this version have verified, by the digests of their credentials. */
  private readonly verified: LRUCache<string, ReadToken>;
  private verifiedVersion = 0;

  /** `now` gives milliseconds since 1970. */
  constructor(
    secrets: Pick<SecretList<Buffer>, 'entries' | 'version'>,
    keySet: TokenKeySet | undefined,
    rules: VerifierRules,
    now: () => number = Date.now,
  ) {
    this.secrets = secrets;
    this.keySet = keySet;
    this.rules = rules;
    this.verified = new LRUCache({ max: rules.maxKnownTokens });
    this.now = now;
  }

  onModuleDestroy(): void {
    this.keySet?.stop();
  }

  /** The token of the credential with this digest, if it was verified with these keys and has not expired. */
  known(digest: string): ReadToken | undefined {
    if (this.verifiedVersion !== this.version) this.verified.clear();
    this.verifiedVersion = this.version;
    const token = this.verified.get(digest);
    if (!token || this.now() < token.expiresAtSeconds * 1000) return token;
    this.verified.delete(digest);
    return undefined;
  }

  /**
   * Verifies a credential and returns its token. With a digest, the cache keeps the token. Throws a `GatewayError`:
   * `token_expired`, `invalid_credentials`, or `keys_unavailable` if the key set is not available, and its key may be in it.
   */
  async verify(credential: string, digest?: string): Promise<ReadToken> {
    const { version } = this;
    const { payload, signedBy } = await this.verifiedPayload(credential);
    const grant = readTokenFromClaims(parseClaims(payload), this.rules, this.now() / 1000);
    const token = { ...grant, caller: callerOf(credential, grant.subject), signedBy };
    // The keys may have changed meanwhile.
    if (digest !== undefined && version === this.version) this.verified.set(digest, token);
    return token;
  }

  /** Grows with each change of the keys in use. */
  get version(): number {
    return this.secrets.version + (this.keySet?.version ?? 0);
  }

  /** Whether the key that signed a token is still one of those in use. */
  trusts({ signedBy }: Pick<ReadToken, 'signedBy'>): boolean {
    return (
      this.secrets.entries.some((secret) => nameOfSecret(secret) === signedBy) ||
      (this.keySet?.entries.some(({ name }) => name === signedBy) ?? false)
    );
  }

  private async verifiedPayload(credential: string): Promise<VerifiedPayload> {
    // A JWE has five parts, so it is refused here.
    if (!COMPACT_JWS.test(credential)) throw malformed();
    const { alg = '', kid } = headerOf(credential);
    if (!credential.split('.').every(isCanonical)) {
      throw invalidCredentials(
        'unknown_credential',
        'The read token is not valid here: each of its parts must be in canonical base64url.',
      );
    }
    // The configured keys say which algorithms there are; the header only chooses among them.
    if (alg === SECRET_ALGORITHM && this.secrets.entries.length > 0) {
      const keys = this.secrets.entries.map((key) => ({ key, name: nameOfSecret(key) }));
      return (await verifiedWith(keys, credential, alg)) ?? refuseSignature();
    }
    if (JWKS_ALGORITHMS.includes(alg) && this.keySet) {
      return this.verifiedWithKeySet(this.keySet, credential, alg, kid);
    }
    throw invalidCredentials('signature', 'The read token is signed in a way not accepted here.');
  }

  /** Without a `kid` any key of the kind may have signed the token. */
  private async verifiedWithKeySet(
    keySet: TokenKeySet,
    credential: string,
    alg: string,
    kid: unknown,
  ): Promise<VerifiedPayload> {
    const isNamed = typeof kid === 'string';
    const fitting = () =>
      keySet.entries.filter((key) => key.algorithms.includes(alg) && (!isNamed || key.kid === kid));
    const { version } = keySet;
    let verified = await verifiedWith(fitting(), credential, alg);
    // The key may be newer than the set.
    if (!verified) await keySet.nextRead;
    if (keySet.version !== version) verified ??= await verifiedWith(fitting(), credential, alg);
    if (verified) return verified;
    if (!keySet.isGood && (!isNamed || fitting().length === 0)) {
      throw new GatewayError(
        'keys_unavailable',
        'The keys of read tokens are not available; try again.',
        { headers: { 'Retry-After': '1' } },
      );
    }
    return refuseSignature();
  }
}

async function verifiedWith(
  keys: readonly { key: KeyObject | Uint8Array; name: string }[],
  credential: string,
  algorithm: string,
): Promise<VerifiedPayload | undefined> {
  for (const { key, name } of keys) {
    const verified = await compactVerify(credential, key, { algorithms: [algorithm] }).catch(
      (): CompactVerifyResult | undefined => undefined,
    );
    if (verified) return { payload: verified.payload, signedBy: name };
  }
  return undefined;
}

function refuseSignature(): never {
  throw invalidCredentials('signature', "The read token's signature is not valid here.");
}

const secretNames = new WeakMap<Buffer, string>();

function nameOfSecret(secret: Buffer): string {
  const known = secretNames.get(secret);
  if (known !== undefined) return known;
  const name = `secret:${hash('sha256', secret, 'base64')}`;
  secretNames.set(secret, name);
  return name;
}

/**
 * Whether the bits after the last byte are 0 (RFC 4648 §3.5). Decoders ignore them, so that a signature of
 * 64 bytes has sixteen spellings.
 */
function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part;
}

/**
 * The subject, because a back end can mint any number of tokens for one user. A token without one is known by the digest
 * of its signed part, without the signature: from one ECDSA signature (r, s) anybody can make another one, (r, n − s), so
 * one token may have several spellings. Digests in hex and in base64 differ in length.
 */
function callerOf(credential: string, subject: string | undefined): Caller {
  if (subject) return { id: credentialDigest(subject).toString('hex'), isSubject: true };
  const signedPart = credential.slice(0, credential.lastIndexOf('.'));
  return { id: credentialDigest(signedPart).toString('base64'), isSubject: false };
}

function headerOf(credential: string): ReturnType<typeof decodeProtectedHeader> {
  try {
    return decodeProtectedHeader(credential);
  } catch {
    throw malformed();
  }
}

function parseClaims(payload: Uint8Array): Record<string, unknown> {
  try {
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    if (isJsonObject(claims)) return claims;
  } catch {
    // Falls through to the refusal.
  }
  throw invalidCredentials('claims', 'The read token holds no claims.');
}

function malformed(): GatewayError {
  return invalidCredentials(
    'unknown_credential',
    'The credential is neither an API key nor a read token.',
  );
}
