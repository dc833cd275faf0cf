import type { Socket } from 'node:net';
import { GatewayError } from '../../platform/errors/gateway-error.ts';
import { headerValue, withHeaders, type HeaderList } from '../../platform/http/header-list.ts';
import { isEventStream } from './media-types.ts';
import type { UpstreamCall } from './upstream-calls.ts';
import type { ConnectionTaker } from './connections/connection-line.ts';
import type { ConnectionPool } from './connections/connection-pool.ts';
import type { UpstreamConnection } from './connections/connection.ts';
import type { WireHandler, WireRequest } from './connections/wire-exchange.ts';
import type { Reached } from './send-again.ts';

/** What an attempt tells. Nothing follows the end or the failure. */
export interface AttemptOwner {
  onSent(attempt: Attempt): void;
  onBodySent(attempt: Attempt): void;
  onHead(attempt: Attempt, statusCode: number, headers: HeaderList): void;
  onChunk(attempt: Attempt, chunk: Buffer): void;
  onEnd(attempt: Attempt): void;
  onError(attempt: Attempt, error: Error, reached: Reached): void;
  onUnproven(attempt: Attempt): void;
}

/** One try at a request on one connection. */
export class Attempt implements WireHandler, ConnectionTaker {
  isOver = false;
  mayBeSilent = false;
  /** Whether an earlier request had its response on the connection. */
  wasKept = false;
  /** When it was given its connection, in milliseconds of `performance.now()`. */
  sentAtMs = 0;
  private readonly owner: AttemptOwner;
  private readonly pool: ConnectionPool;
  private readonly request: WireRequest;
  /** For the metrics and the traces. */
  private readonly call: UpstreamCall;
  private connection: UpstreamConnection | undefined;

  constructor(owner: AttemptOwner, pool: ConnectionPool, request: WireRequest, call: UpstreamCall) {
    this.owner = owner;
    this.pool = pool;
    this.request = request;
    this.call = call;
  }

  get socket(): Socket | undefined {
    return this.connection?.socket;
  }

  /** The address of the upstream, if its connection has opened. */
  get address(): string | undefined {
    return this.connection?.address;
  }

  get reached(): Reached {
    return this.connection?.reached ?? 'nowhere';
  }

  /** Whether the body of the request is still being sent, and the upstream does not hold it up. */
  get isSending(): boolean {
    return this.connection?.isSending() ?? false;
  }

  /** Sends the request. The pool calls it. */
  send(connection: UpstreamConnection): void {
    this.connection = connection;
    this.wasKept = connection.hasServed;
    this.sentAtMs = performance.now();
    const { request, call } = this;
    const sent = call.headers
      ? { ...request, headers: withHeaders(request.headers, call.headers) }
      : request;
    const onBodySent = request.body && (() => this.owner.onBodySent(this));
    connection.send(sent, this, onBodySent);
    this.owner.onSent(this);
  }

  onNoConnection(error: Error): void {
    this.owner.onError(this, error, 'nowhere');
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
    this.isOver = true;
    this.call.ended();
    // From now on the connection belongs to another request, which must not be paused for this one.
    this.connection = undefined;
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
  answered(statusCode: number): void {
    this.call.answered(statusCode);
  }

  pause(): void {
    this.connection?.pause();
  }

  resume(): void {
    this.connection?.resume();
  }

  /** Ends it and its connection. The owner gets no further call. `how` is for the metrics: why, or the error. */
  end(how: Parameters<UpstreamCall['ended']>[0] | GatewayError): void {
    if (this.isOver) return;
    this.isOver = true;
    if (how instanceof GatewayError) this.call.failed(how);
    else this.call.ended(how);
    if (this.connection) this.pool.drop(this.connection);
    this.connection = undefined;
  }
}
