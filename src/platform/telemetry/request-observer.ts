import type { IncomingMessage } from 'node:http';
import type { RequestRecord } from './request-record.ts';

/** A request of the public port that has ended. */
export interface EndedRequest {
  /** The method as the client sent it. Node accepts many, so it is not a safe label. */
  method: string;
  /** The status of the response, or 499, as in nginx, if the client disconnected before it began. */
  status: number;
  /** False if either side broke the response off. */
  isWhole: boolean;
  /** The time from its arrival to the last byte of the response. A read arrives before the first middleware. */
  durationMs: number;
  /** The route, the upstream, the error code and other facts. `RequestRecord` says which of them are bounded. */
  context: RequestRecord;
}

/**
 * Observes every request of the public port, for the log, the metrics and the traces. `Telemetry` holds the
 * observers, and the first step calls them. An observer must not throw.
 */
export interface RequestObserver {
  /** The request has just got its context. Its credential is not checked and its route not found yet. */
  began?(request: IncomingMessage, context: RequestRecord): void;
  /** The response has closed. It is also called for CONNECT, without a `began` before it. */
  ended(request: EndedRequest): void;
}
