import { readFile } from 'node:fs/promises';
import { request } from 'undici';

const FETCH_TIMEOUT_MS = 3_000;
const MAX_SET_BYTES = 1_048_576;

/** The source of a JWK set, and how often the gateway may read it. */
export interface JwkSetSource {
  /** The set as text. Rejects if it cannot be read. */
  read(): Promise<string>;
  /** The age at which a set is read again. */
  refreshMs: number;
  /** The least time between two reads, whatever unknown `kid`s are sent. */
  minIntervalMs: number;
}

/** The source that GATEWAY_READ_TOKEN_JWKS names: an http(s) URL, or the path of a file. */
export function jwkSetSource(location: string): JwkSetSource {
  return /^https?:\/\//i.test(location)
    ? { read: () => fetchText(location), refreshMs: 20_000, minIntervalMs: 5_000 }
    : { read: () => readFile(location, 'utf8'), refreshMs: 1_000, minIntervalMs: 1_000 };
}

/** Redirects are not followed, because only the setting decides whose keys are trusted. */
async function fetchText(url: string): Promise<string> {
  const { statusCode, body } = await request(url, {
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    headers: { accept: 'application/jwk-set+json, application/json' },
  });
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`the JWK set's server answered ${statusCode}`);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_SET_BYTES) throw new Error(`the JWK set is over ${MAX_SET_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
