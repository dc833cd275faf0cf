import { SpanKind, SpanStatusCode, type Span, type Tracer } from '@opentelemetry/api';
import type { Attempt, AttemptObserver } from './attempt.ts';
import { tcpAddress } from './tcp-address.ts';
import { knownMethod, methodInName } from '../../platform/telemetry/http-method.ts';
import type { RequestSpan } from '../../platform/tracing/open-telemetry/request-spans.ts';

/**
 * Makes a client span for each upstream request, retries included, as a child of the span of the client's request.
 * For a shared read the parent is the span of the first reader. The upstream gets the span in `traceparent`. The
 * span ends with the last byte of the response.
 */
export class CallSpans implements AttemptObserver {
  private readonly tracer: Tracer;

  constructor(tracer: Tracer) {
    this.tracer = tracer;
  }

  began(attempt: Attempt): void {
    const { method, target, context } = attempt.request;
    const { name, base } = attempt.upstream;
    const parent = context.span as RequestSpan | undefined;
    if (!parent) return;
    const resends = parent.calls++;
    const span = this.tracer.startSpan(
      methodInName(method),
      {
        kind: SpanKind.CLIENT,
        attributes: {
          'http.request.method': knownMethod(method),
          // The query is left out, because it contains the sync engine's secret.
          'url.full': base.origin + context.paths.of(pathOf(target)),
          'server.address': base.hostname,
          'server.port': tcpAddress(base).port,
          'peer.service': name,
          ...(resends > 0 && { 'http.request.resend_count': resends }),
        },
      },
      parent.context,
    );
    attempt.span = span;
    parent.call = span.spanContext();
    attempt.headers = {
      traceparent: traceparentOf(span),
      ...(parent.dropsTracestate && { tracestate: '' }),
    };
  }

  ended({ status, failure, span: own }: Attempt): void {
    const span = own as Span | undefined;
    if (!span) return;
    if (status !== undefined) span.setAttribute('http.response.status_code', status);
    // A reader that disconnects is nobody's error.
    if (failure === 'canceled') span.setAttribute('gateway.call.canceled', true);
    else if (failure !== undefined) fail(span, failure);
    else if (status !== undefined && status >= 400) fail(span, String(status));
    span.end();
  }
}

function fail(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** W3C Trace Context §3.2. */
function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${(traceFlags & 1).toString()}`;
}

function pathOf(target: string): string {
  const queryAt = target.indexOf('?');
  return queryAt === -1 ? target : target.slice(0, queryAt);
}
