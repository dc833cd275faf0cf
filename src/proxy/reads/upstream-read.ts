import type { Socket } from 'node:net';
import { internalError, type GatewayError } from '../../platform/errors/gateway-error.ts';
import { isEventStream } from '../headers/answer-head.ts';
import { isStale, type Reached } from '../upstream/send-again.ts';
import { upstreamError } from '../upstream/upstream-error.ts';
import { answerFault } from '../upstream/usable-answer.ts';
import type { OwnRead } from '../../platform/server/request-context.ts';
import type { UpstreamCall } from '../../platform/telemetry/upstream-calls.ts';
import { withHeaders, type HeaderList } from '../../platform/http/header-list.ts';
import type { ReadCall } from './read-call.ts';
import { ReadHead } from './read-head.ts';
import type { ReadSharing } from './read-sharing.ts';
import type { ConnectionTaker } from '../upstream/connections/connection-line.ts';
import { ConnectTimeout } from '../upstream/connections/connection-errors.ts';
import type { AnswerHandler } from '../upstream/connections/answer-handler.ts';
import type { ReadConnection } from '../upstream/connections/read-connection.ts';

/** Observes an upstream's response. The last call is final. */
export interface ReadObserver {
  onHead(head: ReadHead): void;
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  /** No response, or a response that was broken off after its head. */
  onFailure(error: GatewayError): void;
}

/**
 * One read in flight at an upstream, without a stream or a promise between the upstream's socket and the observer.
 * If the upstream had already closed a kept connection, the read is sent again on a new one. That is no failure.
 */
export class UpstreamRead implements AnswerHandler, ConnectionTaker, OwnRead {
  observer: ReadObserver;
  isOver = false;
  readonly call: ReadCall;
  private readonly sharing: ReadSharing;
  /** The current attempt, for the metrics and the traces. */
  private attempt: UpstreamCall | undefined;
  private connection: ReadConnection | undefined;
  private wasKept = false;
  private head: ReadHead | undefined;
  private isRepeated = false;
  private isPaused = false;

  constructor(call: ReadCall, sharing: ReadSharing, observer: ReadObserver) {
    this.call = call;
    this.sharing = sharing;
    this.observer = observer;
  }

  /** It is checked only now and then, not for every read. */
  get mayBeSilent(): boolean {
    return isEventStream(this.head?.header('content-type'));
  }

  get socket(): Socket | undefined {
    return this.connection?.socket;
  }

  /** A read that is sent again may have reached the upstream before. */
  get reached(): Reached {
    return this.isRepeated ? 'sent' : (this.connection?.reached ?? 'nowhere');
  }

  start(): void {
    this.begin();
    this.call.upstream.pool.take(this);
  }

  /** Sends the read. The pool calls it. */
  send(connection: ReadConnection): void {
    this.connection = connection;
    this.wasKept = connection.hasServed;
    const { method, target, headers } = this.call;
    const further = this.attempt?.headers;
    connection.send(method, target, further ? withHeaders(headers, further) : headers, this);
  }

  onNoConnection(error: Error): void {
    this.failAt('nowhere', error);
  }

  /** Pauses the body. Bytes that were already read may still arrive. Once the read is over, it does nothing. */
  pause(): void {
    this.isPaused = true;
    this.connection?.pause();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.connection?.resume();
  }

  /** Ends the read and its connection, unless it is over. The observer gets no further call. */
  cancel(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.attempt?.ended('canceled');
    this.dropConnection();
  }

  onHead(statusCode: number, headers: HeaderList): void {
    const head = new ReadHead(statusCode, headers);
    const fault = answerFault(this.call.upstream, statusCode, (name) => head.header(name));
    if (fault) {
      this.failAt('answered', fault);
      return;
    }
    this.attempt?.answered(statusCode);
    this.head = head;
    try {
      this.observer.onHead(head);
    } catch (fault) {
      this.failByFault(fault);
    }
  }

  onChunk(chunk: Buffer): void {
    try {
      this.observer.onChunk(chunk);
    } catch (fault) {
      this.failByFault(fault);
    }
  }

  onEnd(): void {
    this.isOver = true;
    this.attempt?.ended();
    const { connection } = this;
    // From now on the connection belongs to another read, which must not be paused for this one.
    this.connection = undefined;
    if (connection) this.call.upstream.pool.giveBack(connection);
    try {
      this.observer.onEnd();
    } catch (fault) {
      this.failByFault(fault);
    }
  }

  onError(error: Error, reached: Reached): void {
    const { pool } = this.call.upstream;
    if (!this.isRepeated && isStale(reached, this.wasKept)) {
      this.attempt?.ended('stale');
      this.isRepeated = true;
      this.dropConnection();
      // The retry uses a new connection, because other kept ones may be closed too.
      this.begin();
      pool.takeFresh(this);
      return;
    }
    if (error instanceof ConnectTimeout && pool.isUpstreamThere) {
      // The upstream has not accepted this connection yet, one of many. The read may wait until its own deadline.
      this.dropConnection();
      pool.takeFresh(this);
      return;
    }
    this.failAt(reached, error);
  }

  private begin(): void {
    const { upstream, method, target, context } = this.call;
    this.attempt = this.sharing.calls.begin(upstream.name, method, context, target);
  }

  private dropConnection(): void {
    if (this.connection) this.call.upstream.pool.drop(this.connection);
    this.connection = undefined;
  }

  /** Thrown through the parser, it would look like a fault of the upstream. */
  private failByFault(fault: unknown): void {
    this.sharing.logFault(fault, this.call);
    const error = internalError(fault);
    this.attempt?.failed(error);
    this.cancel();
    this.observer.onFailure(error);
  }

  private failAt(reached: Reached, cause: Error): void {
    const error = upstreamError(this.call, { reached, cause });
    if (this.head) this.attempt?.ended('broken');
    else this.attempt?.failed(error);
    this.cancel();
    this.observer.onFailure(error);
  }
}
