import type { IncomingHttpHeaders } from 'node:http';
import type { Request } from 'express';
import type { HeaderList } from '../platform/http/header-list.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { parseTraceparent } from '../platform/tracing/traceparent.ts';
import { entityUrl, timelinePath, type EntityAddress } from './entity-address.ts';
import { idempotencyKeyOf } from './idempotency-key.interceptor.ts';

/** `traceparent`, and `tracestate` along with it (W3C Trace Context §3.2, §3.3). */
export function traceHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string' || !parseTraceparent(traceparent)) return {};
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent };
}

/**
 * The headers of a runtime request. No other header of the client is forwarded, because the runtime journals every
 * header and shows it in its UI: none may hold a credential.
 */
export function runtimeHeaders(
  address: EntityAddress,
  request: Request,
  contentType: string,
): HeaderList {
  const idempotencyKey = idempotencyKeyOf(request);
  const headers = ['content-type', contentType];
  headers.push('x-entity-url', entityUrl(address), 'x-entity-stream', timelinePath(address));
  headers.push('x-request-id', requestContext(request).requestId);
  for (const [name, value] of Object.entries(traceHeaders(request.headers))) {
    headers.push(name, value);
  }
  if (idempotencyKey !== undefined) headers.push('idempotency-key', idempotencyKey);
  return headers;
}
