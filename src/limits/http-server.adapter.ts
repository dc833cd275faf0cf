import { createServer, type Server, type ServerOptions } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';

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
/**
 * Connections that wait to be accepted: as many as Linux lets there be. Node's own 511 turn away some of
 * thousands of readers that come back at once, and the kernel tries again after a second.
 */
const LISTEN_BACKLOG = 4_096;
/** A whole request head, target included; Node answers 431 beyond it. */
const MAX_HEAD_BYTES = 16_384;

/**
 * Nest's Express, on a server whose time limits are chosen: some of them can only be given when the
 * server is made, and Nest makes it without any. Who listens to its requests is added later.
 */
export class HttpServerAdapter extends ExpressAdapter {
  private readonly maxBodyBytes: number;

  constructor(maxBodyBytes: number) {
    super();
    this.maxBodyBytes = maxBodyBytes;
  }

  override initHttpServer(): void {
    this.httpServer = createServer(serverOptions(this.maxBodyBytes));
  }

  /** As the gateway has it called: always with a host. */
  override listen(port: string | number, host?: unknown, callback?: () => void): Server {
    const address = { port: Number(port), host: String(host), backlog: LISTEN_BACKLOG };
    return this.httpServer.listen(address, callback);
  }
}

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
    // Node would answer without a word to the log; `request-target.middleware.ts` does it.
    requireHostHeader: false,
    // Most requests have no body, and each would else be a stream that is read to its end.
    optimizeEmptyRequests: true,
  };
}
