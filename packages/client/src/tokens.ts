import { SignJWT } from 'jose';
import type { MintedToken } from './credential.ts';

/** The content of a read token. */
export interface ReadTokenRequest {
  /** One of the gateway's `GATEWAY_READ_TOKEN_SECRETS`, at least 32 bytes. */
  secret: string;
  /** One path or up to 16, each below `/streams` or `/shapes`. Whole segments are compared. */
  prefix: string | readonly string[];
  /**
   * The lifetime in seconds. Default 300. At most the gateway's `GATEWAY_READ_TOKEN_MAX_TTL_SECONDS`, a day by
   * default.
   */
  ttlSeconds?: number;
  /** The tenant of the deployment. Default `default`. */
  tenant?: string;
  /** The user of the token, for the gateway's log. */
  subject?: string;
  /** The part of the catalog that the token may read. */
  shape?: {
    table?: string;
    where?: string;
    params?: Record<string, string>;
    columns?: readonly string[];
  };
}

const MIN_SECRET_BYTES = 32;

/**
 * Signs a read token with HS256. Return the result to the page that asks, for its `authCallback`, after you have
 * checked who asks. Throws a TypeError for a secret that is too short.
 */
export async function mintReadToken({
  secret,
  prefix,
  ttlSeconds = 300,
  tenant = 'default',
  subject,
  shape,
}: ReadTokenRequest): Promise<MintedToken> {
  const key = new TextEncoder().encode(secret);
  if (key.length < MIN_SECRET_BYTES) {
    throw new TypeError(`The secret must have at least ${MIN_SECRET_BYTES} bytes.`);
  }
  const iat = Math.floor(Date.now() / 1_000);
  const token = await new SignJWT({
    prefix,
    ...(shape && { shape }),
    ...(subject !== undefined && { sub: subject }),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setAudience(tenant)
    .setIssuedAt(iat)
    .setExpirationTime(iat + ttlSeconds)
    .sign(key);
  return { token, ttlSeconds };
}
