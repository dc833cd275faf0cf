import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { GatewayError, type ErrorReason } from '../platform/errors/gateway-error.ts';
import { isNamed } from '../platform/http/header-list.ts';

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;
/** A header without a credential: empty, or only the name of the scheme. */
const NO_CREDENTIAL = /^(?:Bearer)? *$/i;

/**
 * The credential of `Authorization: Bearer <credential>` (RFC 6750 §2.1). The scheme may be in any case. The
 * gateway takes no credential from cookies or the query. Throws `missing_credentials`. Throws `invalid_credentials`
 * for another scheme, and for a header given twice, because servers differ on which of the two they read.
 */
export function bearerCredential(request: IncomingMessage): string {
  const header = request.headers.authorization;
  if (header === undefined || NO_CREDENTIAL.test(header)) {
    throw new GatewayError(
      'missing_credentials',
      'Send the header "Authorization: Bearer <credential>".',
      { headers: { 'WWW-Authenticate': 'Bearer' } },
    );
  }
  const credential = BEARER.exec(header)?.[1];
  if (credential === undefined || isGivenTwice(request.rawHeaders)) {
    throw invalidCredentials(
      'malformed_header',
      'The Authorization header must be "Bearer <credential>", given once.',
    );
  }
  return credential;
}

/** Node keeps the first of several `Authorization` headers and hides the others. */
function isGivenTwice(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (isNamed(rawHeaders[i], 'authorization')) count++;
  }
  return count > 1;
}

/** The SHA-256 of a credential. It is used to compare keys and to distinguish callers. */
export function credentialDigest(credential: string): Buffer {
  return hash('sha256', credential, 'buffer');
}

/** A 401 for a credential that is not valid (RFC 6750 §3). */
export function invalidCredentials(
  reason: ErrorReason,
  detail: string,
  cause?: unknown,
): GatewayError {
  return new GatewayError('invalid_credentials', detail, {
    cause,
    reason,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });
}

/**
 * A 401 for a read token that has expired. The client should get a new one. `since` says how long ago, if it was before the
 * request: a new token with a long past is one of a clock that is slow.
 */
export function tokenExpired(since?: string): GatewayError {
  return new GatewayError(
    'token_expired',
    since === undefined
      ? 'The read token has expired; get a new one and continue from the last offset.'
      : `${since} Get a new one and continue from the last offset. If it is new, check the clock of the machine that made it.`,
    { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } },
  );
}
