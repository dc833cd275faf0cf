import fc from 'fast-check';

// Runs before the suite, in its process.
const { CONFORMANCE_URL = '', CONFORMANCE_API_KEY, CONFORMANCE_SEED } = process.env;

// The run with the gateway and the one without get the same random inputs.
fc.configureGlobal({ seed: Number(CONFORMANCE_SEED) });

// The suite knows of no credential: `fetch`, all that it sends with, adds the API key toward the
// gateway and changes nothing else.
if (CONFORMANCE_API_KEY !== undefined) {
  const { origin } = new URL(CONFORMANCE_URL);
  const plainFetch = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : input;
    if (new URL(url).origin !== origin) return plainFetch(input, init);
    const headers = new Headers(
      init?.headers ?? (input instanceof Request ? input.headers : undefined),
    );
    headers.set('authorization', `Bearer ${CONFORMANCE_API_KEY}`);
    return plainFetch(input, { ...init, headers });
  };
}
