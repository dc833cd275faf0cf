import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { withHeaders } from '../../platform/http/header-list.ts';
import type { RequestRecord } from '../../platform/telemetry/request-record.ts';
import { failureOf, type UpstreamFailure, type UpstreamName } from './upstream-failure.ts';
import type { ConnectionPool, ConnectionTaker } from './connections/connection-pool.ts';
import type { UpstreamConnection } from './connections/connection.ts';
import type { WireAttempt, WireHandler, WireRequest } from './connections/wire-exchange.ts';
import type { Reached } from './send-again.ts';

/** Observes every upstream request, for the metrics and the traces. It must not throw. */
export interface AttemptObserver {
  /** The request is about to be sent. `headers` may still be set. */
  began?(attempt: Attempt): void;
  /** The response headers have arrived: `status` and `answeredAtMs` are set. */
  answered?(attempt: Attempt): void;
  /** The request has ended: `endedAtMs` is set, and `failure` if it failed. */
  ended?(attempt: Attempt): void;
}

/** A request, and the client's request for which it is sent: for a shared read that of the first reader. */
export interface AttemptRequest extends WireRequest {
  context: RequestRecord;
}

/** The upstream of an attempt. */
export interface AttemptUpstream {
  readonly name: UpstreamName;
  readonly base: URL;
  readonly observers: readonly AttemptObserver[];
}

/** One try at a request on one connection. */
export class Attempt implements WireAttempt, ConnectionTaker {
  readonly owner: WireHandler<Attempt>;
  readonly upstream: AttemptUpstream;
  readonly request: AttemptRequest;
  /** Milliseconds of `performance.now()`, like the other times. */
  readonly startedAtMs = performance.now();
  /** When it was given its connection. */
  sentAtMs = 0;
  answeredAtMs: number | undefined;
  endedAtMs: number | undefined;
  status: number | undefined;
  failure: UpstreamFailure | undefined;
  /** Headers that an observer adds to the request. They replace the client's, such as `traceparent`. */
  headers: Record<string, string> | undefined;
  /** The tracer's own data. */
  span: unknown;
  /** Whether an earlier request had its response on the connection. */
  wasKept = false;
  /** Undefined before it has one and after its end, when another request may have it. */
  connection: UpstreamConnection | undefined;
  private readonly pool: ConnectionPool;

  constructor(
    owner: WireHandler<Attempt>,
    pool: ConnectionPool,
    request: AttemptRequest,
    upstream: AttemptUpstream,
  ) {
    this.owner = owner;
    this.pool = pool;
    this.request = request;
    this.upstream = upstream;
    for (const observer of upstream.observers) observer.began?.(this);
  }

  get isOver(): boolean {
    return this.endedAtMs !== undefined;
  }

  get reached(): Reached {
    return this.connection?.reached ?? 'nowhere';
  }

  /** Sends the request. The pool calls it. */
  send(connection: UpstreamConnection): void {
    this.connection = connection;
    this.wasKept = connection.hasServed;
    this.sentAtMs = performance.now();
    const { request, headers } = this;
    const sent = headers ? { ...request, headers: withHeaders(request.headers, headers) } : request;
    connection.send(sent, this);
  }

  /** It gets no connection. */
  onError(error: Error, reached: Reached): void {
    this.owner.onError(this, error, reached);
  }

  /** Waits for another connection, as this one took too long to open. */
  connectAgain(): void {
    if (this.connection) this.pool.drop(this.connection);
    this.connection = undefined;
    this.pool.takeFresh(this);
  }

  /** The response can be used. */
  answered(status: number): void {
    const { upstream, request } = this;
    this.status = status;
    this.answeredAtMs = request.context.answeredAtMs = performance.now();
    for (const observer of upstream.observers) observer.answered?.(this);
  }

  /**
   * Ends it. Its connection is kept if the response is complete, and closed if not. The owner gets no further call. `how` is
   * for the metrics: why, or the error.
   */
  end(how: UpstreamFailure | GatewayError | undefined): void {
    if (this.isOver) return;
    const { connection } = this;
    this.connection = undefined;
    this.failure = how instanceof GatewayError ? failureOf(how) : how;
    this.endedAtMs = performance.now();
    for (const observer of this.upstream.observers) observer.ended?.(this);
    if (connection) this.pool.giveBack(connection);
  }
}
