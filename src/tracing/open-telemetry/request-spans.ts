import type { IncomingMessage } from 'node:http';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { loggedPath } from '../../log/logged-path.ts';
import { CLIENT_GONE_STATUS } from '../../http/client-gone.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { EndedRequest, RequestObserver } from '../../telemetry/request-observer.ts';
import { parseTraceparent } from '../traceparent.ts';
import { knownMethod, methodInName } from '../../telemetry/http-method.ts';

/** The server span of a request, and what its calls to upstreams begin with. */
export class RequestSpan {
  readonly span: Span;
  /** In which the spans of its upstream calls are its children. */
  readonly context: Context;
  /** Whether a `tracestate` came without a valid `traceparent`: it must not be forwarded (§3.3.1). */
  readonly dropsTracestate: boolean;
  /** Calls to upstreams so far; any after the first one is a retry. */
  calls = 0;
  /** The latest of them. */
  call: SpanContext | undefined;

  constructor(span: Span, dropsTracestate: boolean) {
    this.span = span;
    this.context = trace.setSpan(ROOT_CONTEXT, span);
    this.dropsTracestate = dropsTracestate;
  }
}

/**
 * A server span for every request, by the HTTP conventions of OpenTelemetry. It has neither query nor
 * headers nor body, as the log has not, so that no credential can come along; `tracestate` is passed on
 * unread.
 */
export class RequestSpans implements RequestObserver {
  private readonly tracer: Tracer;

  constructor(tracer: Tracer) {
    this.tracer = tracer;
  }

  began(request: IncomingMessage, context: RequestRecord): void {
    const method = request.method ?? '';
    const parent = parentOf(request);
    const span = this.tracer.startSpan(
      methodInName(method),
      {
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': knownMethod(method),
          'url.path': loggedPath(context.path),
          'url.scheme': 'http',
          'gateway.request.id': context.requestId,
        },
      },
      parent ?? ROOT_CONTEXT,
    );
    const dropsTracestate = parent === undefined && request.headers.tracestate !== undefined;
    context.span = new RequestSpan(span, dropsTracestate);
    context.traceId = span.spanContext().traceId;
  }

  ended(request: EndedRequest): void {
    const { span: ofRequest } = request.context;
    if (!(ofRequest instanceof RequestSpan)) return;
    const { span } = ofRequest;
    if (span.isRecording()) describe(span, request);
    span.end();
  }
}

function parentOf(request: IncomingMessage): Context | undefined {
  const parent = parseTraceparent(request.headers.traceparent);
  if (!parent) return undefined;
  const { traceId, spanId, flags } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags, isRemote: true });
}

function describe(span: Span, { method, status, isWhole, context }: EndedRequest): void {
  const { route, errorCode, live, entityType, invocationId } = context;
  if (route !== undefined) {
    span.updateName(`${methodInName(method)} ${route}`);
    span.setAttribute('http.route', route);
  }
  // To a client that went before its answer no status was sent.
  if (isWhole || status !== CLIENT_GONE_STATUS) {
    span.setAttribute('http.response.status_code', status);
  }
  if (!isWhole) span.setAttribute('gateway.response.broken', true);
  if (context.sharedWith) describeShare(span, context.sharedWith);
  if (live !== undefined) span.setAttribute('gateway.read.live', live);
  if (entityType !== undefined) span.setAttribute('gateway.entity.type', entityType);
  if (invocationId !== undefined) span.setAttribute('gateway.invocation.id', invocationId);
  const errorType = errorCode ?? (status >= 500 ? String(status) : undefined);
  if (errorType !== undefined) span.setAttribute('error.type', errorType);
  // What is wrong with a request, 4xx, is no failure of who answers it.
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The call that answered it is in the trace of the reader that began it. */
function describeShare(span: Span, first: RequestRecord): void {
  span.setAttribute('gateway.read.shared', true);
  const call = first.span instanceof RequestSpan ? first.span.call : undefined;
  if (call) span.addLink({ context: call });
}
