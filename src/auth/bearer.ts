import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { GatewayError, type ErrorReason } from '../errors/gateway-error.ts';
import { isNamed } from '../http/header-list.ts';

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;
/** A header that names the scheme at most: no credential was sent. */
const NO_CREDENTIAL = /^(?:Bearer)? *$/i;

/**
 * The credential of `Authorization: Bearer <credential>` (RFC 6750 §2.1), the scheme in any case.
 * Nothing else carries one: no cookie, no query. Throws `missing_credentials`, or
 * `invalid_credentials` for another scheme and for a header given twice, of which one server would
 * read the first and another the last.
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

/** The SHA-256 of a credential: what keys are compared by, and what tells callers apart. */
export function credentialDigest(credential: string): Buffer {
  return hash('sha256', credential, 'buffer');
}

/** A 401 for a credential that was sent and is of no use (RFC 6750 §3). */
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

/** A 401 for a read token that was good and is no longer: come back with a fresh one. */
export function tokenExpired(): GatewayError {
  return new GatewayError(
    'token_expired',
    'The read token has expired; get a new one and continue from the last offset.',
    { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } },
  );
}
