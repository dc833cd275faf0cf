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
import { knownMethod, methodInName } from '../../telemetry/http-method.ts';

/**
 * The server span of a request, and the beginning of its upstream spans. It starts with the first upstream request, or at
 * the end: by then it is known whether the credential was accepted. Without that the caller's `traceparent` is only a
 * link, because otherwise anybody could have spans recorded.
 */
export class RequestSpan {
  /** Whether a `tracestate` came without a valid `traceparent`: it must not be forwarded (§3.3.1). */
  readonly dropsTracestate: boolean;
  /** The number of upstream requests so far. Every one after the first is a retry. */
  calls = 0;
  /** The latest upstream request. */
  call: SpanContext | undefined;
  private readonly tracer: Tracer;
  private readonly record: RequestRecord;
  private readonly method: string;
  private readonly caller: SpanContext | undefined;
  private started: Span | undefined;

  constructor(tracer: Tracer, { method = '', headers }: IncomingMessage, record: RequestRecord) {
    this.tracer = tracer;
    this.record = record;
    this.method = method;
    this.caller = callerOf(headers.traceparent);
    this.dropsTracestate = !this.caller && headers.tracestate !== undefined;
  }

  get span(): Span {
    return (this.started ??= this.start());
  }

  /** The context in which the spans of its upstream requests are its children. */
  get context(): Context {
    return trace.setSpan(ROOT_CONTEXT, this.span);
  }

  private start(): Span {
    const { caller, method, record, tracer } = this;
    const isAccepted = record.credential !== undefined;
    const span = tracer.startSpan(
      methodInName(method),
      {
        kind: SpanKind.SERVER,
        startTime: record.startedAtMs,
        attributes: {
          'http.request.method': knownMethod(method),
          'url.path': record.loggedPath,
          'url.scheme': 'http',
          'gateway.request.id': record.requestId,
        },
        ...(caller && !isAccepted && { links: [{ context: caller }] }),
      },
      caller && isAccepted ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT,
    );
    const { traceId } = span.spanContext();
    // A trace that nobody records says less than the caller's own.
    if (span.isRecording() || !caller) record.traceId = traceId;
    return span;
  }
}

/**
 * Makes a server span for each request, by OpenTelemetry's HTTP conventions. Like the log it contains no query,
 * headers or body, so that no credential can leak. `tracestate` is forwarded without reading it.
 */
export class RequestSpans implements RequestObserver {
  private readonly tracer: Tracer;

  constructor(tracer: Tracer) {
    this.tracer = tracer;
  }

  began(request: IncomingMessage, context: RequestRecord): void {
    context.span = new RequestSpan(this.tracer, request, context);
  }

  ended(request: EndedRequest): void {
    const { span: ofRequest } = request.context;
    if (!(ofRequest instanceof RequestSpan)) return;
    const { span } = ofRequest;
    if (span.isRecording()) describe(span, request);
    // By the clock of its start, which was before the span.
    span.end(performance.now());
  }
}

function callerOf(traceparent: string | string[] | undefined): SpanContext | undefined {
  const caller = parseTraceparent(traceparent);
  if (!caller) return undefined;
  const { traceId, spanId, flags } = caller;
  return { traceId, spanId, traceFlags: flags, isRemote: true };
}

function describe(span: Span, { method, status, isWhole, context }: EndedRequest): void {
  const { route, errorCode, live, attributes } = context;
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
  if (attributes) span.setAttributes(attributes);
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
