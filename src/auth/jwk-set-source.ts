import type { LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { MAX_FILE_BYTES, readSmallFile, smallText } from '../platform/config/small-file.ts';
import { noJwkSet, orderedJwkSet } from './jwk-set.ts';

const FETCH_TIMEOUT_MS = 3_000;

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
