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
import { CLIENT_GONE_STATUS } from '../../http/client-gone.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { EndedRequest, RequestObserver } from '../../telemetry/request-observer.ts';
import { parseTraceparent } from '../traceparent.ts';
import type { AppendSpans } from './append-spans.ts';
import { knownMethod, methodInName } from '../../telemetry/http-method.ts';

/** The server span of a request, and the beginning of its upstream spans. */
export class RequestSpan {
  readonly span: Span;
  /** The context in which the spans of its upstream requests are its children. */
  readonly context: Context;
  /** Whether a `tracestate` came without a valid `traceparent`: it must not be forwarded (§3.3.1). */
  readonly dropsTracestate: boolean;
  /** The number of upstream requests so far. Every one after the first is a retry. */
  calls = 0;
  /** The latest upstream request. */
  call: SpanContext | undefined;

  constructor(span: Span, dropsTracestate: boolean) {
    this.span = span;
    this.context = trace.setSpan(ROOT_CONTEXT, span);
    this.dropsTracestate = dropsTracestate;
  }
}

/**
 * Makes a server span for each request, by OpenTelemetry's HTTP conventions. Like the log it contains no query,
 * headers or body, so that no credential can leak. `tracestate` is forwarded without reading it.
 */
export class RequestSpans implements RequestObserver {
  private readonly tracer: Tracer;
  private readonly appends: AppendSpans;

  constructor(tracer: Tracer, appends: AppendSpans) {
    this.tracer = tracer;
    this.appends = appends;
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
          'url.path': context.loggedPath,
          'url.scheme': 'http',
          'gateway.request.id': context.requestId,
        },
      },
      parent ?? ROOT_CONTEXT,
    );
    const dropsTracestate = parent === undefined && request.headers.tracestate !== undefined;
    context.span = new RequestSpan(span, dropsTracestate);
    context.traceId = span.spanContext().traceId;
    if (span.isRecording()) context.recordedTraceId = context.traceId;
  }

  ended(request: EndedRequest): void {
    const { span: ofRequest } = request.context;
    if (!(ofRequest instanceof RequestSpan)) return;
    const { span } = ofRequest;
    if (span.isRecording()) {
      describe(span, request);
      this.linkAppends(span, request.context);
    }
    span.end();
  }

  /** What a live read delivered was appended while it was open. */
  private linkAppends(span: Span, { live, path, startedAtMs }: RequestRecord): void {
    if (live === undefined) return;
    for (const append of this.appends.since(path, startedAtMs)) span.addLink({ context: append });
  }
}

function parentOf(request: IncomingMessage): Context | undefined {
  const parent = parseTraceparent(request.headers.traceparent);
  if (!parent) return undefined;
  const { traceId, spanId, flags } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags, isRemote: true });
}

function describe(span: Span, { method, status, isWhole, context }: EndedRequest): void {
  const { route, errorCode, live, entityType, invocationId, paths } = context;
  if (route !== undefined) {
    span.updateName(`${methodInName(method)} ${route}`);
    span.setAttribute('http.route', route);
  }
  // No status was sent to a client that disconnected before its response.
  if (isWhole || status !== CLIENT_GONE_STATUS) {
    span.setAttribute('http.response.status_code', status);
  }
  if (!isWhole) span.setAttribute('gateway.response.broken', true);
  if (context.sharedWith) describeShare(span, context.sharedWith);
  if (live !== undefined) span.setAttribute('gateway.read.live', live);
  // It could be an API key that somebody took for the name of a type.
  if (entityType !== undefined && paths.of(`/${entityType}`) === `/${entityType}`) {
    span.setAttribute('gateway.entity.type', entityType);
  }
  if (invocationId !== undefined) span.setAttribute('gateway.invocation.id', invocationId);
  const errorType = errorCode ?? (status >= 500 ? String(status) : undefined);
  if (errorType !== undefined) span.setAttribute('error.type', errorType);
  // A wrong request (4xx) is not an error of the server.
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The upstream request belongs to the trace of the reader that began it. */
function describeShare(span: Span, first: RequestRecord): void {
  span.setAttribute('gateway.read.shared', true);
  const call = first.span instanceof RequestSpan ? first.span.call : undefined;
  if (call) span.addLink({ context: call });
}
