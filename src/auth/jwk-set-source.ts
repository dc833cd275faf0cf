import type { LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { MAX_FILE_BYTES, readSmallFile, smallText } from '../platform/config/small-file.ts';
import { orderedJwkSet } from './jwk-set.ts';

const FETCH_TIMEOUT_MS = 3_000;

/** The source of a JWK set, and how often the gateway reads it. */
export interface JwkSetSource {
  /** The set as ordered text. Rejects with an error that has a code if there is none. */
  readonly read: () => Promise<string>;
  /** How long after the beginning of a read the next one begins. */
  refreshMs: number;
}

/** `code` stands where errors of the system have theirs. */
function noJwkSet(code: string, cause?: unknown): Error {
  return Object.assign(new Error(`there is no JWK set: ${code}`, { cause }), { code });
}

/**
 * The source that GATEWAY_READ_TOKEN_JWKS names: an http(s) URL, or the path of a file. `lookup` finds the server of a
 * URL.
 */
export function jwkSetSource(location: string, lookup?: LookupFunction): JwkSetSource {
  if (!/^https?:\/\//i.test(location)) {
    return { read: async () => ordered(await readSmallFile(location)), refreshMs: 1_000 };
  }
  // A connection for each read: the server may close a kept one just when the next read begins.
  const dispatcher = new Agent({
    connect: { lookup },
    pipelining: 0,
    allowH2: false,
    maxResponseSize: MAX_FILE_BYTES,
  });
  // A withdrawn key ends the reads that it opened within 5 s, if the server answers within a second.
  return { read: async () => ordered(await fetchText(location, dispatcher)), refreshMs: 2_000 };
}

function ordered(text: string): string {
  try {
    return orderedJwkSet(text);
  } catch {
    throw noJwkSet('no JSON with keys');
  }
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
