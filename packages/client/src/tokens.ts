import { SignJWT } from 'jose';
import { agentPrefix, entityOf, type EntityAddress } from './address.ts';
import type { MintedToken } from './credential.ts';
import { secretText } from './secret-text.ts';
import { checkedPrefix, shapeClaim, type TokenShape } from './token-rules.ts';

export type { TokenShape } from './token-rules.ts';

/** The content of a read token. */
export interface ReadTokenRequest {
  /** One of the gateway's `GATEWAY_READ_TOKEN_SECRETS`, at least 32 bytes. White space around it does not count. */
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
  /**
   * The id of the user, the same in all tokens of that user: the gateway limits the open reads of each subject. A random one
   * undoes the limit, and one for everybody makes all users share it. Without one the gateway counts each token.
   */
  subject?: string;
  /** The part of the catalog that the token may read. */
  shape?: TokenShape;
}

/** As for `mintReadToken`, without the prefix. */
export type AgentTokenRequest = Omit<ReadTokenRequest, 'prefix' | 'shape'>;

const MIN_SECRET_BYTES = 32;

/**
 * Signs a read token with HS256. Return the result to the page that asks, for its `authCallback`, after you have
 * checked who asks. Rejects with a TypeError for a secret that is too short, and for claims that no gateway takes.
 */
export async function mintReadToken({
  secret,
  prefix,
  ttlSeconds = 300,
  tenant = 'default',
  subject,
  shape,
}: ReadTokenRequest): Promise<MintedToken> {
  const key = new TextEncoder().encode(secretText(secret));
  if (key.length < MIN_SECRET_BYTES) {
    throw new TypeError(`The secret must have at least ${MIN_SECRET_BYTES} bytes.`);
  }
  if (!(Number.isFinite(ttlSeconds) && ttlSeconds >= 1)) {
    throw new TypeError('ttlSeconds must be 1 or more.');
  }
  if (!isName(tenant) || (subject !== undefined && !isName(subject))) {
    throw new TypeError('tenant and subject must be texts that are not empty.');
  }
  const iat = Math.floor(Date.now() / 1_000);
  const token = await new SignJWT({
    prefix: checkedPrefix(prefix),
    ...(shape && { shape: shapeClaim(shape) }),
    ...(subject !== undefined && { sub: subject }),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setAudience(tenant)
    .setIssuedAt(iat)
    .setExpirationTime(iat + ttlSeconds)
    .sign(key);
  return { token, ttlSeconds };
}

/**
 * Signs a read token for one agent, by its address or the result of `spawn`: it opens what the agent writes. An address
 * that names a tenant decides it. Rejects like `mintReadToken`.
 */
export async function readTokenFor(
  agent: EntityAddress,
  request: AgentTokenRequest,
): Promise<MintedToken> {
  const tenant = entityOf(agent).tenant ?? request.tenant ?? 'default';
  return mintReadToken({ ...request, tenant, prefix: agentPrefix(agent, tenant) });
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
