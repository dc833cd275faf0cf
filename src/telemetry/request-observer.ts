import type { IncomingMessage } from 'node:http';
import type { RequestRecord } from './request-record.ts';

/** A request of the public port that has ended. */
export interface EndedRequest {
  /** As the client sent it: anything that Node takes for a method, so not yet fit for a label. */
  method: string;
  /** What was answered; 499, as nginx has it, where the client went before the answer began. */
  status: number;
  /** False where the answer was broken off, by either side. */
  isWhole: boolean;
  /** From its arrival, which for a read is before the first middleware, to the answer's last byte. */
  durationMs: number;
  /** Route, upstream, error code and the rest of what is known; see there which of it is bounded. */
  context: RequestRecord;
}

/**
 * Observes every request of the public port, for the log, the metrics and the traces. `Telemetry` holds the
 * observers, and the first step calls them. An observer must not throw.
 */
export interface RequestObserver {
  /** The request has its context and nothing else: no credential is judged, no route found. */
  began?(request: IncomingMessage, context: RequestRecord): void;
  /** The response has closed. It is also called for CONNECT, without a `began` before it. */
  ended(request: EndedRequest): void;
}
