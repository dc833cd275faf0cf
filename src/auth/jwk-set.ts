import { createPublicKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import type { ParsedList } from '../platform/config/secret-list.ts';
import { MAX_FILE_BYTES, readSmallFile, smallText } from '../platform/config/small-file.ts';

const FETCH_TIMEOUT_MS = 3_000;

/** A public key that verifies read tokens. */
export interface TokenKey {
  /** Identifies the key, in whatever form a set describes it: `ReadToken.signedBy`. */
  name: string;
  kid: unknown;
  algorithms: readonly string[];
  key: KeyObject;
}

/** The algorithms of each kind of key. RFC 9864 §2.2 names EdDSA with the curve Ed25519 by the curve. */
const ALGORITHMS = new Map([
  ['OKP Ed25519', ['EdDSA', 'Ed25519']],
  ['EC P-256', ['ES256']],
  ['RSA', ['RS256']],
]);
export const JWKS_ALGORITHMS: readonly string[] = [...ALGORITHMS.values()].flat();

/**
 * Reads the set that GATEWAY_READ_TOKEN_JWKS names, an http(s) URL or the path of a file, as ordered text. Rejects with an error
 * that has a code if there is none. `lookup` finds the server of a URL.
 */
export function jwkSetReader(location: string, lookup?: LookupFunction): () => Promise<string> {
  if (!/^https?:\/\//i.test(location)) {
    return async () => orderedJwkSet(await readSmallFile(location));
  }
  // A connection for each read: the server may close a kept one just when the next read begins.
  const dispatcher = new Agent({
    connect: { lookup },
    pipelining: 0,
    allowH2: false,
    maxResponseSize: MAX_FILE_BYTES,
  });
  return async () => orderedJwkSet(await fetchText(location, dispatcher));
}

/** Redirects are not followed, because only the setting decides whose keys are trusted. */
async function fetchText(url: string, dispatcher: Dispatcher): Promise<string> {
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      signal,
      headers: {
        accept: 'application/jwk-set+json, application/json',
        // Nothing here decodes another one. Without the header a server may choose (RFC 9110 §12.5.3).
        'accept-encoding': 'identity',
      },
    });
    if (statusCode === 200) return smallText(Buffer.from(await body.arrayBuffer()));
    await body.dump();
    throw noJwkSet(`status ${statusCode}`);
  } catch (error) {
    throw signal.aborted ? noJwkSet(`no answer in ${FETCH_TIMEOUT_MS} ms`, error) : error;
  }
}

/** `code` stands where errors of the system have theirs. */
function noJwkSet(code: string, cause?: unknown): Error {
  return Object.assign(new Error(`there is no JWK set: ${code}`, { cause }), { code });
}

/** The same text for the same keys, in whatever order a server writes them and their members. Throws if it holds none. */
export function orderedJwkSet(text: string): string {
  try {
    const { keys } = JSON.parse(text) as { keys: object[] };
    const ordered = keys.map((jwk) => JSON.stringify(jwk, Object.keys(jwk).sort()));
    return `{"keys":[${ordered.sort().join()}]}`;
  } catch {
    throw noJwkSet('no JSON with keys');
  }
}

/** The keys with which a token can be verified. A set without one is wrong: a server that lost its keys withdraws none. */
export function parseJwkSet(text: string): ParsedList<TokenKey> {
  const { keys } = JSON.parse(text) as { keys: JsonWebKey[] };
  const entries = keys.flatMap(usableKey);
  return { entries, problems: entries.length > 0 ? [] : ['holds no key that can verify tokens'] };
}

/** None for a key of another kind or use (RFC 7517 §4), and for a private one. */
function usableKey(jwk: JsonWebKey): TokenKey[] {
  const { kty, crv, alg, use = 'sig', key_ops: operations, kid, d } = jwk;
  const algorithms = ALGORITHMS.get(crv === undefined ? `${kty}` : `${kty} ${crv}`) ?? [];
  const isForTokens =
    d === undefined &&
    use === 'sig' &&
    (!Array.isArray(operations) || operations.includes('verify')) &&
    (typeof alg !== 'string' || algorithms.includes(alg));
  if (algorithms.length === 0 || !isForTokens) return [];
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const digest = hash('sha256', key.export({ format: 'der', type: 'spki' }), 'base64');
    return [{ name: `jwk:${digest}`, kid, algorithms, key }];
  } catch {
    return [];
  }
}
