import { Injectable } from '@nestjs/common';
import type { ErrorCode } from '../../platform/errors/error-codes.ts';
import type { GatewayError } from '../../platform/errors/gateway-error.ts';
import type { RequestRecord } from '../../platform/telemetry/request-record.ts';

export const UPSTREAM_NAMES = ['history', 'sync', 'runtime-ingress', 'runtime-admin'] as const;
export type UpstreamName = (typeof UPSTREAM_NAMES)[number];

/**
 * Why an upstream request failed. `broken` is a body that was cut. Two are not the upstream's fault: `stale`, it
 * had closed a kept connection and the request is sent again; and `canceled`, the reader disconnected, its token
 * expired, or this copy drains.
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

/** The failure of a request by the gateway's error. Any other error is `other`. */
const FAILURES_BY_CODE: Partial<Record<ErrorCode, UpstreamFailure>> = {
  upstream_unreachable: 'unreachable',
  upstream_timeout: 'timeout',
  upstream_invalid_response: 'invalid_response',
};

/** Observes every upstream request, for the metrics and the traces. It must not throw. */
export interface UpstreamCallObserver {
  /** The request is about to be sent. `call.headers` may still be set. */
  began?(call: UpstreamCall): void;
  /** The response headers have arrived: `call.status` and `call.answeredAtMs` are set. */
  answered?(call: UpstreamCall): void;
  /** The request has ended: `call.endedAtMs` is set, and `call.failure` if it failed. */
  ended?(call: UpstreamCall): void;
}

/**
 * One upstream request. Its sender calls `answered` at the response headers and then `ended`, or `failed` instead
 * of either. A retry is a call of its own.
 */
export class UpstreamCall {
  readonly upstream: UpstreamName;
  /** The method as it is sent. For a proxied request the client chose it, so it is not a safe label. */
  readonly method: string;
  /** The client's request. For a shared read it is that of the first reader. */
  readonly context: RequestRecord;
  /** Milliseconds of `performance.now()`, like the other times. */
  readonly startedAtMs = performance.now();
  /** The path and query of the upstream request. The query may contain a credential. */
  readonly target: string;
  /** Headers that an observer adds to the request. They replace the client's, such as `traceparent`. */
  headers: Record<string, string> | undefined;
  status: number | undefined;
  answeredAtMs: number | undefined;
  endedAtMs: number | undefined;
  failure: UpstreamFailure | undefined;
  /** The tracer's own data. */
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

  /** The response headers have arrived. */
  answered(status: number): void {
    this.status = status;
    this.answeredAtMs = performance.now();
    this.context.answeredAtMs = this.answeredAtMs;
    for (const observer of this.observers) observer.answered?.(this);
  }

  /** The request has ended, with a failure if its response was cut. Only the first call counts. */
  ended(failure?: UpstreamFailure): void {
    if (this.endedAtMs !== undefined) return;
    this.failure = failure;
    this.endedAtMs = performance.now();
    for (const observer of this.observers) observer.ended?.(this);
  }

  /** The request has failed. The reason is that of the gateway's error. */
  failed({ code }: GatewayError): void {
    this.ended(FAILURES_BY_CODE[code] ?? 'other');
  }
}

/** Every sender of upstream requests reports them here. */
@Injectable()
export class UpstreamCalls {
  private readonly observers: UpstreamCallObserver[] = [];

  /** Call it before the gateway listens. */
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
