import type { IncomingHttpHeaders } from 'node:http';
import type { RequestContext } from '../server/request-context.ts';
import { parseTraceparent } from '../tracing/traceparent.ts';
import { entityUrl, timelinePath, type EntityAddress } from './entity-address.ts';

/** The headers of a command that the runtime gets. */
export interface CommandCall {
  context: RequestContext;
  /** A checked `Idempotency-Key`. */
  idempotencyKey: string | undefined;
  /** W3C Trace Context, where the client's is well-formed. */
  trace: Record<string, string>;
  contentType: string | undefined;
  /** Whether the client has left without its answer. */
  clientHasGone: () => boolean;
}

/** `traceparent`, and `tracestate` along with it (W3C Trace Context §3.2, §3.3). */
export function traceHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string' || !parseTraceparent(traceparent)) return {};
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent };
}

/**
 * The headers of a runtime request: these and nothing else of the client's. The runtime journals
 * every header that it gets and shows it in its UI, so no credential may be among them.
 */
export function runtimeHeaders(
  address: EntityAddress,
  call: CommandCall,
  contentType: string,
): Record<string, string> {
  const { idempotencyKey } = call;
  return {
    'content-type': contentType,
    'x-entity-url': entityUrl(address),
    'x-entity-stream': timelinePath(address),
    'x-request-id': call.context.requestId,
    ...call.trace,
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
}
