import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { headerValue, withHeaders, type HeaderList } from '../../platform/http/header-list.ts';
import type { RequestRecord } from '../../platform/telemetry/request-record.ts';
import { isEventStream } from './media-types.ts';
import { failureOf, type UpstreamFailure, type UpstreamName } from './upstream-failure.ts';
import type { ConnectionTaker } from './connections/connection-line.ts';
import type { ConnectionPool } from './connections/connection-pool.ts';
import type { UpstreamConnection } from './connections/connection.ts';
import type { WireHandler, WireRequest } from './connections/wire-exchange.ts';
import type { Reached } from './send-again.ts';

/** What an attempt tells. Nothing follows the end or the failure. */
export interface AttemptOwner {
  onBodySent(attempt: Attempt): void;
  onHead(attempt: Attempt, statusCode: number, headers: HeaderList): void;
  onChunk(attempt: Attempt, chunk: Buffer): void;
  onEnd(attempt: Attempt): void;
  onError(attempt: Attempt, error: Error, reached: Reached): void;
  onUnproven(attempt: Attempt): void;
}

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
export class Attempt implements WireHandler, ConnectionTaker {
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
  mayBeSilent = false;
  /** Whether an earlier request had its response on the connection. */
  wasKept = false;
  /** Undefined before it has one and after its end, when another request may have it. */
  connection: UpstreamConnection | undefined;
  private readonly owner: AttemptOwner;
  private readonly pool: ConnectionPool;

  constructor(
    owner: AttemptOwner,
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

  onBodySent(): void {
    this.owner.onBodySent(this);
  }

  onHead(statusCode: number, headers: HeaderList): void {
    this.mayBeSilent = isEventStream(headerValue(headers, 'content-type'));
    this.owner.onHead(this, statusCode, headers);
  }

  onChunk(chunk: Buffer): void {
    this.owner.onChunk(this, chunk);
  }

  onEnd(): void {
    const { connection } = this;
    this.finish(undefined);
    if (connection) this.pool.giveBack(connection);
    this.owner.onEnd(this);
  }

  onError(error: Error, reached: Reached): void {
    this.owner.onError(this, error, reached);
  }

  onUnproven(): void {
    this.owner.onUnproven(this);
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

  /** Ends it and its connection. The owner gets no further call. `how` is for the metrics: why, or the error. */
  end(how: UpstreamFailure | GatewayError | undefined): void {
    if (this.isOver) return;
    const { connection } = this;
    this.finish(how instanceof GatewayError ? failureOf(how) : how);
    if (connection) this.pool.drop(connection);
  }

  private finish(failure: UpstreamFailure | undefined): void {
    this.connection = undefined;
    this.failure = failure;
    this.endedAtMs = performance.now();
    for (const observer of this.upstream.observers) observer.ended?.(this);
  }
}
