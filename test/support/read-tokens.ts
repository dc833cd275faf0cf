import { SignJWT } from 'jose';

/** What to put into a test's read token; the tenant is `default`. */
export interface TokenRequest {
  prefix: string | string[];
  /** May be a fraction, and negative. */
  ttlSeconds: number;
  shape?: object;
}

/** Mints a read token as an application's back end does. */
export function mintReadToken(
  secret: string,
  { prefix, ttlSeconds, shape }: TokenRequest,
): Promise<string> {
  const nowSeconds = Date.now() / 1000;
  const iat = Math.min(nowSeconds, nowSeconds + ttlSeconds);
  return new SignJWT({ prefix, ...(shape && { shape }), iat, exp: nowSeconds + ttlSeconds })
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience('default')
    .sign(new TextEncoder().encode(secret));
}
