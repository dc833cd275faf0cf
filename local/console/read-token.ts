import { SignJWT } from 'jose';

/** The content of a token besides its tenant and times. */
export interface ReadTokenClaims {
  aud: string;
  prefix: string;
  /** The part of the catalog that the token may read. */
  shape?: { table: string };
}

const CATALOG = '/shapes/v1/shape';
// Types and ids that the gateway accepts: no slash, no percent-encoding, no dot at the start.
const AGENT = /^\/agents\/[A-Za-z][\w.-]{0,62}\/[\w-][\w.~:@-]{0,127}$/;

/**
 * The claims for a request of the page, or undefined if it is not allowed: the page may watch the catalog and one
 * agent at a time. An application checks here what the signed-in user may see.
 */
export function readTokenClaims(tenant: string, prefix: unknown): ReadTokenClaims | undefined {
  if (prefix === CATALOG) return { aud: tenant, prefix, shape: { table: 'entities' } };
  const streams = `/streams/t/${tenant}`;
  if (typeof prefix !== 'string' || !prefix.startsWith(streams)) return undefined;
  return AGENT.test(prefix.slice(streams.length)) ? { aud: tenant, prefix } : undefined;
}

export async function mintReadToken(
  secret: string,
  claims: ReadTokenClaims,
  ttlSeconds: number,
): Promise<string> {
  const issuedAtSeconds = Math.floor(Date.now() / 1_000);
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(issuedAtSeconds)
    .setExpirationTime(issuedAtSeconds + ttlSeconds)
    .sign(new TextEncoder().encode(secret));
}
