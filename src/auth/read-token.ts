import type { GatewayError } from '../platform/errors/gateway-error.ts';
import type { Caller } from '../platform/server/caller.ts';
import { parsePathScope, type PathScope } from '../contract/path-scope.ts';
import { invalidCredentials, tokenExpired } from './bearer.ts';
import { parseShapeScope, type ShapeScope } from './shape-scope.ts';

/** A verified read token. */
export interface ReadToken extends TokenGrant {
  /** Its subject, or else the token: the same for every signature of the same header and claims. */
  caller: Caller;
  /** Identifies the key that signed the token. It holds no secret. */
  signedBy: string;
}

/** The meaning of a read token's claims. */
export interface TokenGrant {
  scope: PathScope;
  shape: ShapeScope | undefined;
  /** `exp`, in seconds since 1970. */
  expiresAtSeconds: number;
  subject: string | undefined;
}

export interface ClaimRules {
  tenant: string;
  maxTtlSeconds: number;
}

const MAX_PREFIXES = 16;
/** How far ahead of the gateway's clock the clock of a minting back end may run. */
const MAX_AHEAD_SECONDS = 60;
/** A time from here on is one in milliseconds. */
const MIN_MILLISECONDS = 100_000_000_000;

/**
 * Judges the claims of a token whose signature is already verified. Throws `invalid_credentials`, and `token_expired`, which
 * is looked at last, so that it means a token that was good in all else.
 */
export function readTokenFromClaims(
  claims: Record<string, unknown>,
  rules: ClaimRules,
  nowSeconds: number,
): TokenGrant {
  const { aud, sub, shape } = claims;
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.every((entry) => typeof entry === 'string') || !audiences.includes(rules.tenant)) {
    throw refusedClaim('aud must be the tenant of this deployment, or an array that holds it');
  }
  if (sub !== undefined && typeof sub !== 'string') throw refusedClaim('sub must be a string');
  const scope = prefixScope(claims.prefix);
  const shapeScope = shape === undefined ? undefined : parseShapeScope(shape);
  if (shape !== undefined && shapeScope === undefined) {
    throw refusedClaim('shape must be {table, where?, params?, columns?}, params naming every $n');
  }
  const expiresAtSeconds = checkTimes(claims, rules.maxTtlSeconds, nowSeconds);
  return { scope, shape: shapeScope, expiresAtSeconds, subject: sub };
}

function prefixScope(prefix: unknown): PathScope {
  const prefixes: unknown[] = Array.isArray(prefix) ? prefix : [prefix];
  const strings = prefixes.filter((entry) => typeof entry === 'string');
  const scope = parsePathScope(strings);
  if (
    scope === undefined ||
    strings.length !== prefixes.length ||
    strings.length === 0 ||
    strings.length > MAX_PREFIXES
  ) {
    throw refusedClaim(
      `prefix must be a path, or up to ${MAX_PREFIXES} of them, each beginning with /streams or /shapes`,
    );
  }
  return scope;
}

/** RFC 7519 §4.1.4–4.1.6; there is no leeway for `exp`. */
function checkTimes(
  claims: Record<string, unknown>,
  maxTtlSeconds: number,
  nowSeconds: number,
): number {
  const issuedAt = numericDate(claims.iat);
  const expiresAt = numericDate(claims.exp);
  if (issuedAt === undefined) throw refusedClaim('iat is required, in seconds since 1970');
  if (expiresAt === undefined) throw refusedClaim('exp is required, in seconds since 1970');
  checkNotAhead('iat', issuedAt, nowSeconds);
  if (expiresAt - issuedAt > maxTtlSeconds) {
    throw refusedClaim(`exp - iat must not be over ${maxTtlSeconds} seconds`);
  }
  if (claims.nbf !== undefined) {
    const notBefore = numericDate(claims.nbf);
    if (notBefore === undefined) throw refusedClaim('nbf must be in seconds since 1970');
    checkNotAhead('nbf', notBefore, nowSeconds);
  }
  if (expiresAt <= nowSeconds) {
    const agoSeconds = Math.ceil(nowSeconds - expiresAt);
    throw tokenExpired(`The read token expired ${agoSeconds} s ago.`);
  }
  return expiresAt;
}

/** Some libraries set `nbf` to now, so the clock of what mints the tokens may run ahead for both. */
function checkNotAhead(claim: 'iat' | 'nbf', seconds: number, nowSeconds: number): void {
  if (seconds <= nowSeconds + MAX_AHEAD_SECONDS) return;
  if (seconds >= MIN_MILLISECONDS) throw refusedClaim(`${claim} must be in seconds since 1970`);
  throw invalidCredentials(
    'not_yet_valid',
    `The read token is not valid yet: ${claim} is ${Math.ceil(seconds - nowSeconds)} s in the future. ` +
      'Check the clock of the machine that made the token.',
  );
}

/** A non-negative finite number. `1e400` parses to Infinity and is refused. */
function numericDate(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function refusedClaim(message: string): GatewayError {
  return invalidCredentials('claims', `The read token is not valid here: ${message}.`);
}
