import { isSpanContextValid, trace, type SpanContext } from '@opentelemetry/api';

/**
 * A `fetch` that sends the active span of OpenTelemetry with each request, as `traceparent` and `tracestate`. Give it to
 * `new AgentGateway({ fetch: tracedFetch() })`. Without an active span a request stays as it is. Do not use it in an
 * application that has OpenTelemetry's instrumentation of `fetch`: a request with two `traceparent` has no valid one.
 */
export function tracedFetch(
  fetchNow: typeof fetch = (input, init) => globalThis.fetch(input, init),
): typeof fetch {
  return (input, init) => {
    const span = trace.getActiveSpan()?.spanContext();
    if (!span || !isSpanContextValid(span)) return fetchNow(input, init);
    const given = init?.headers ?? (input instanceof Request ? input.headers : undefined);
    return fetchNow(input, { ...init, headers: withTrace(new Headers(given), span) });
  };
}

/**
 * Not by the application's propagators: they may be of another format than the gateway's (W3C Trace Context), or add
 * `baggage`, which is the application's own.
 */
function withTrace(
  headers: Headers,
  { traceId, spanId, traceFlags, traceState }: SpanContext,
): Headers {
  const flags = traceFlags.toString(16).padStart(2, '0');
  headers.set('traceparent', `00-${traceId}-${spanId}-${flags}`);
  const state = traceState?.serialize();
  if (state) headers.set('tracestate', state);
  return headers;
}
