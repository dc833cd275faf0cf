import { SignJWT } from 'jose';
import { GatewayError, readTokenFromClaims } from './token-rules.ts';
import { signingSecret, TokenCommandError, type TokenSettings } from './token-settings.ts';

/** The content of a read token. */
export interface MintRequest {
  prefixes: string[];
  ttlSeconds: number;
  subject: string | undefined;
  /** The `shape` claim, not checked yet. */
  shape: unknown;
}

/**
 * Signs a read token with the first of the gateway's secrets. Throws `TokenCommandError` for one that
 * the gateway would refuse. `nowMs` is in milliseconds since 1970.
 */
export async function mintReadToken(
  { prefixes, ttlSeconds, subject, shape }: MintRequest,
  settings: TokenSettings,
  nowMs: number = Date.now(),
): Promise<string> {
  const secret = signingSecret(settings);
  const iat = Math.floor(nowMs / 1000);
  const claims = {
    aud: settings.tenant,
    ...(subject !== undefined && { sub: subject }),
    iat,
    exp: iat + ttlSeconds,
    prefix: prefixes.length === 1 ? prefixes[0] : prefixes,
    ...(shape !== undefined && { shape }),
  };
  try {
    readTokenFromClaims(claims, settings, iat);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const isOver = error.code === 'token_expired';
    throw new TokenCommandError(isOver ? 'The read token would expire at once.' : error.message);
  }
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(secret);
}
