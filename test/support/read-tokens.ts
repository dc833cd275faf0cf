import { SignJWT } from 'jose';

/** The claims of a test's read token. */
export interface TokenRequest {
  prefix: string | string[];
  /** May be a fraction, and negative. */
  ttlSeconds: number;
  shape?: object;
  /** The tenant, which is `default` otherwise. */
  audience?: string;
  /** None otherwise. */
  subject?: string;
}

/** Mints a read token as an application's back end does. */
export function mintReadToken(
  secret: string,
  { prefix, ttlSeconds, shape, audience = 'default', subject }: TokenRequest,
): Promise<string> {
  const nowSeconds = Date.now() / 1000;
  const iat = Math.min(nowSeconds, nowSeconds + ttlSeconds);
  return new SignJWT({
    prefix,
    ...(shape && { shape }),
    ...(subject !== undefined && { sub: subject }),
    iat,
    exp: nowSeconds + ttlSeconds,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience(audience)
    .sign(new TextEncoder().encode(secret));
}
