import type { ServerOptions } from 'node:http';

/** Longer than load balancers keep idle connections (60 s), or they would send into closed ones. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** The whole head of a request has to come within this. */
const HEADERS_TIMEOUT_MS = 15_000;
/** Head and body have to come within this, plus the time that a body at the cap may take. */
const REQUEST_TIMEOUT_MS = 60_000;
/** The slowest upload that is waited for; below it is a client that only holds a connection. */
const MIN_UPLOAD_BYTES_PER_MS = 16;
/** How often the two are looked at. Node's 30 s would make them three times as long. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** How long a connection is silent before TCP asks whether its other end is still there. */
const TCP_KEEP_ALIVE_DELAY_MS = 30_000;
/** A whole request head, target included; Node answers 431 beyond it. */
const MAX_HEAD_BYTES = 16_384;

/** What of Node's server can only be chosen when it is made; `maxBodyBytes` is the cap of a request's body. */
export function serverOptions(maxBodyBytes: number): ServerOptions {
  return {
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS + Math.ceil(maxBodyBytes / MIN_UPLOAD_BYTES_PER_MS),
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // A client that vanished without a word would else hold its connection, and its read, for good.
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_DELAY_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    // Node would answer without a word to the log; `request-target.step.ts` does it.
    requireHostHeader: false,
    // Most requests have no body, and each would else be a stream that is read to its end.
    optimizeEmptyRequests: true,
  };
}
