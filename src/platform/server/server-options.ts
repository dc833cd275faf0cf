import type { ServerOptions } from 'node:http';

/** Longer than load balancers keep idle connections (60 s). Otherwise they would send requests on closed ones. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** The longest time for the head of a request. */
const HEADERS_TIMEOUT_MS = 15_000;
/** The longest time for head and body, in addition to the time of a body at the cap. */
const REQUEST_TIMEOUT_MS = 60_000;
/** The slowest accepted upload. A slower client only holds a connection. */
const MIN_UPLOAD_BYTES_PER_MS = 16;
/** How often both times are checked. Node's default of 30 s would triple them. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** How long a connection is silent before TCP checks whether the other end is still there. */
const TCP_KEEP_ALIVE_DELAY_MS = 30_000;
/** The largest head that is parsed, target included; see `headSizeStep`. To a larger one Node's parser gives a bare 431. */
const MAX_PARSED_HEAD_BYTES = 65_536;

/**
 * The options of Node's server that must be set when it is created. `maxBodyBytes` is the cap of a request's body.
 */
export function serverOptions(maxBodyBytes: number): ServerOptions {
  return {
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS + Math.ceil(maxBodyBytes / MIN_UPLOAD_BYTES_PER_MS),
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // Otherwise a client that vanished silently would hold its connection and its read for good.
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_DELAY_MS,
    maxHeaderSize: MAX_PARSED_HEAD_BYTES,
    // Node would answer without a log line, so `request-target.step.ts` checks it.
    requireHostHeader: false,
    // Most requests have no body. Without this option each would be a stream that must be read to its end.
    optimizeEmptyRequests: true,
  };
}
