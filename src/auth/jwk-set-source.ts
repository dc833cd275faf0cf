import type { LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { MAX_FILE_BYTES, readSmallFile, smallText } from '../platform/config/small-file.ts';

const FETCH_TIMEOUT_MS = 3_000;

/** The source of a JWK set, and how often the gateway may read it. */
export interface JwkSetSource {
  /** The set as text. Rejects if it cannot be read. */
  read(): Promise<string>;
  /** How long after a read that succeeded the next one begins, counted from its beginning. */
  refreshMs: number;
  /** The same after reads that failed, from the second one in a row on. */
  retryMs: number;
}

/**
 * The source that GATEWAY_READ_TOKEN_JWKS names: an http(s) URL, or the path of a file. `lookup` finds the server of a
 * URL.
 */
export function jwkSetSource(location: string, lookup?: LookupFunction): JwkSetSource {
  if (!/^https?:\/\//i.test(location)) {
    return { read: () => readSmallFile(location), refreshMs: 1_000, retryMs: 1_000 };
  }
  // A connection for each read: the server may close a kept one just when the next read begins.
  const dispatcher = new Agent({
    connect: { lookup },
    pipelining: 0,
    allowH2: false,
    maxResponseSize: MAX_FILE_BYTES,
  });
  // A withdrawn key ends the reads that it opened within 5 s, if the server answers within a second.
  return { read: () => fetchText(location, dispatcher), refreshMs: 2_000, retryMs: 5_000 };
}

/** Redirects are not followed, because only the setting decides whose keys are trusted. */
async function fetchText(url: string, dispatcher: Dispatcher): Promise<string> {
  const { statusCode, body } = await request(url, {
    dispatcher,
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    headers: {
      accept: 'application/jwk-set+json, application/json',
      // Nothing here decodes another one. Without the header a server may choose (RFC 9110 §12.5.3).
      'accept-encoding': 'identity',
    },
  });
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`the JWK set's server answered ${statusCode}`);
  }
  return smallText(Buffer.from(await body.arrayBuffer()));
}
