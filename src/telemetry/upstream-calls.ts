import { GatewayError } from '../errors/gateway-error.ts';
import { ClientGone } from '../http/client-gone.ts';
import type { RequestRecord } from './request-record.ts';

export const UPSTREAM_NAMES = ['history', 'sync', 'runtime-ingress', 'runtime-admin'] as const;
export type UpstreamName = (typeof UPSTREAM_NAMES)[number];

/**
 * Why a call to an upstream came to nothing. `broken` is a body that was cut. Two are no fault of
 * the upstream's: `stale`, a kept connection that it had closed, so that the request is sent again; and
 * `canceled`, as the reader has gone, its token expired, or this copy drains.
 */
export const UPSTREAM_FAILURES = [
  'unreachable',
  'timeout',
  'invalid_response',
  'broken',
  'stale',
  'canceled',
  'other',
] as const;
export type UpstreamFailure = (typeof UPSTREAM_FAILURES)[number];

/** Observes every upstream request, for the metrics and the traces. It must not throw. */
export interface UpstreamCallObserver {
  /** About to be sent: `call.headers` may still be set. */
  began?(call: UpstreamCall): void;
  /** The answer's headers are there: `call.status` and `call.answeredAtMs` are set. */
  answered?(call: UpstreamCall): void;
  /** Over, well or not: `call.endedAtMs` is set, and `call.failure` where it failed. */
  ended?(call: UpstreamCall): void;
}

/**
 * One upstream request. Its sender calls `answered` at the response headers and then `ended`, or `failed` instead
 * of either. A retry is a call of its own.
 */
export class UpstreamCall {
  readonly upstream: UpstreamName;
  /** As it is sent: of a proxied request the client's, so not yet fit for a label. */
  readonly method: string;
  /** The client's request; of a read that several clients share, the first one's. */
  readonly context: RequestRecord;
  /** Milliseconds of `performance.now()`, as are the others. */
  readonly startedAtMs = performance.now();
  /** Path and query as they are sent; the query may hold a credential. */
  readonly target: string;
  /** Headers that an observer wants on the request, over the client's own, such as `traceparent`. */
  headers: Record<string, string> | undefined;
  status: number | undefined;
  answeredAtMs: number | undefined;
  endedAtMs: number | undefined;
  failure: UpstreamFailure | undefined;
  /** What the maker of spans keeps with it. */
  span: unknown;
  private readonly observers: readonly UpstreamCallObserver[];

  constructor(
    upstream: UpstreamName,
    method: string,
    context: RequestRecord,
    target: string,
    observers: readonly UpstreamCallObserver[],
  ) {
    this.upstream = upstream;
    this.method = method;
    this.context = context;
    this.target = target;
    this.observers = observers;
    for (const observer of observers) observer.began?.(this);
  }

  /** The headers of its answer have come. */
  answered(status: number): void {
    this.status = status;
    this.answeredAtMs = performance.now();
    this.context.answeredAtMs = this.answeredAtMs;
    for (const observer of this.observers) observer.answered?.(this);
  }

  /** It has ended, with a failure if its response was cut. Only the first end counts. */
  ended(failure?: UpstreamFailure): void {
    if (this.endedAtMs !== undefined) return;
    this.failure = failure;
    this.endedAtMs = performance.now();
    for (const observer of this.observers) observer.ended?.(this);
  }

  /** It has failed, for the reason that the gateway answers with. */
  failed(error: unknown): void {
    this.ended(upstreamFailure(error));
  }
}

/** Every sender of upstream requests reports them here. */
export class UpstreamCalls {
  private readonly observers: UpstreamCallObserver[] = [];

  /** To be called before the gateway listens. */
  observe(observer: UpstreamCallObserver): void {
    this.observers.push(observer);
  }

  begin(
    upstream: UpstreamName,
    method: string,
    context: RequestRecord,
    target: string,
  ): UpstreamCall {
    return new UpstreamCall(upstream, method, context, target, this.observers);
  }
}

function upstreamFailure(error: unknown): UpstreamFailure {
  if (error instanceof ClientGone) return 'canceled';
  if (!(error instanceof GatewayError)) return 'other';
  switch (error.code) {
    case 'upstream_unreachable':
      return 'unreachable';
    case 'upstream_timeout':
      return 'timeout';
    case 'upstream_invalid_response':
      return 'invalid_response';
    case 'token_expired':
    case 'draining':
      return 'canceled';
    default:
      return 'other';
  }
}
