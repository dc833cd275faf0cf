import { PATIENCE_MS } from './until.ts';

const plainFetch = globalThis.fetch;

/**
 * Jest loads it before each file of `npm test`. A response that does not come, or does not end, fails with an error that names
 * its request. Without it the test would only exceed its time.
 */
globalThis.fetch = (input, init) => {
  const request = input instanceof Request ? input : { url: String(input), method: init?.method };
  const stop = new AbortController();
  const timer = setTimeout(() => {
    const what = `${request.method ?? 'GET'} ${request.url}`;
    stop.abort(new Error(`waited ${PATIENCE_MS / 1_000} s in vain: the whole response to ${what}`));
  }, PATIENCE_MS);
  timer.unref();
  const own = init?.signal ?? (input instanceof Request ? input.signal : undefined);
  const signal = own ? AbortSignal.any([own, stop.signal]) : stop.signal;
  return plainFetch(input, { ...init, signal });
};
