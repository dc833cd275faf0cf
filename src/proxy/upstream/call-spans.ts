import { SpanKind, SpanStatusCode, type Span, type Tracer } from '@opentelemetry/api';
import type { GatewayConfig } from '../../contract/gateway-config.ts';
import type { UpstreamCall, UpstreamCallObserver, UpstreamName } from './upstream-calls.ts';
import { tcpAddress } from './tcp-address.ts';
import { knownMethod, methodInName } from '../../platform/telemetry/http-method.ts';
import type { RequestSpan } from '../../platform/tracing/open-telemetry/request-spans.ts';

/** An upstream's address in the form of spans. */
interface Address {
  origin: string;
  host: string;
  port: number;
}

/**
 * Makes a client span for each upstream request, retries included, as a child of the span of the client's request.
 * For a shared read the parent is the span of the first reader. The upstream gets the span in `traceparent`. The
 * span ends with the last byte of the response.
 */
export class CallSpans implements UpstreamCallObserver {
  private readonly tracer: Tracer;
  private readonly addresses: Readonly<Record<UpstreamName, Address>>;

  constructor(tracer: Tracer, { runtime, history, sync }: GatewayConfig) {
    this.tracer = tracer;
    this.addresses = {
      'runtime-ingress': addressOf(runtime.ingressUrl),
      'runtime-admin': addressOf(runtime.adminUrl),
      history: addressOf(history.url),
      sync: addressOf(sync.url),
    };
  }

  began(call: UpstreamCall): void {
    const parent = call.context.span as RequestSpan | undefined;
    if (!parent) return;
    const { origin, host, port } = this.addresses[call.upstream];
    const resends = parent.calls++;
    const span = this.tracer.startSpan(
      methodInName(call.method),
      {
        kind: SpanKind.CLIENT,
        attributes: {
          'http.request.method': knownMethod(call.method),
          // The query is left out, because it contains the sync engine's secret.
          'url.full': origin + call.context.paths.of(pathOf(call.target)),
          'server.address': host,
          'server.port': port,
          'peer.service': call.upstream,
          ...(resends > 0 && { 'http.request.resend_count': resends }),
        },
      },
      parent.context,
    );
    call.span = span;
    parent.call = span.spanContext();
    call.headers = {
      ...call.headers,
      traceparent: traceparentOf(span),
      ...(parent.dropsTracestate && { tracestate: '' }),
    };
  }

  ended(call: UpstreamCall): void {
    const { status, failure } = call;
    const span = call.span as Span | undefined;
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

function addressOf(url: string): Address {
  const base = new URL(url);
  return { origin: base.origin, host: base.hostname, port: tcpAddress(base).port };
}
