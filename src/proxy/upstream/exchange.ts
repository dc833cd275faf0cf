import type { Socket } from 'node:net';
import { awakeMs } from '../../platform/clock/awake-clock.ts';
import type {
  UnorderedList,
  UnorderedListItem,
} from '../../platform/collections/unordered-list.ts';
import type { GatewayError } from '../../platform/errors/gateway-error.ts';
import { headerValue, type HeaderList } from '../../platform/http/header-list.ts';
import type { RequestRecord } from '../../platform/telemetry/request-record.ts';
import { Attempt, type AttemptRequest, type AttemptUpstream } from './attempt.ts';
import { ConnectTimeout } from './connections/connection-errors.ts';
import type { ConnectionPool } from './connections/connection-pool.ts';
import { PROVEN_MS } from './connections/idle-time.ts';
import type { WireHandler } from './connections/wire-exchange.ts';
import type { Reached } from './send-again.ts';
import { upstreamError } from './upstream-error.ts';
import { answerFault, RefusedCredential, type JudgingUpstream } from './usable-answer.ts';

/** A request to an upstream. */
export interface ExchangeRequest extends AttemptRequest {
  /** The time in milliseconds to the response headers, from when the whole request was sent. */
  timeoutMs: number;
  /** Whether the response may wait for something new. */
  isLive: boolean;
  /** Whether it may be sent again: it changes nothing, or the upstream recognizes a repetition. */
  isRepeatable: boolean;
  /** Whether the whole response must come in that time. */
  isTimedToEnd?: boolean;
  /** False if the caller itself finds out which responses cannot be used. */
  isJudged?: boolean;
}

/** Why there is no response, or not all of it. */
export interface ExchangeFailure {
  error: GatewayError;
  /** How far the request came. */
  reached: Reached;
  isTimeout: boolean;
  cause: unknown;
}

/** Observes a response. `onEnd` and `onFailure` are final. */
export interface AnswerHandler {
  onHead(statusCode: number, headers: HeaderList): void;
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  onFailure(failure: ExchangeFailure): void;
}

/** What an exchange needs of its upstream. */
export interface ExchangeUpstream extends AttemptUpstream, JudgingUpstream {
  readonly basePath: string;
  /** The error for the client of a fault of the gateway, which it logs. */
  faultOf(fault: unknown, context: RequestRecord): GatewayError;
  /** The exchanges whose time runs. The upstream calls those that are due. */
  readonly waiting: Pick<UnorderedList<Exchange>, 'delete'>;
  /** Adds one to them. It may be due later than it says now, and not sooner. */
  watch(exchange: Exchange): void;
  /**
   * The one whose turn it is to probe. Probes of all that wait would double the load of an upstream that is only slow.
   */
  prober: Exchange | undefined;
  /** The time in milliseconds without a byte after which a request that may be repeated is probed. */
  probesAfterMs(isLive: boolean): number;
  /**
   * Connections that have not answered since then have died. The first address was silent, unless it is the second one,
   * which has answered.
   */
  endUnproven(sinceMs: number, silent?: string, answering?: string): void;
}

/** After the answer to the probe of a live read, how long the read itself may take to show that it is alive. */
const LIVE_GRACE_MS = 1_000;

/**
 * One request and its response, on one connection or on several: it is sent again if the upstream had closed a kept
 * connection, and once more beside the first if nothing came for a while (the probe). The handler gets one response.
 */
export class Exchange implements WireHandler<Attempt>, UnorderedListItem {
  listIndex: number | undefined;
  private readonly upstream: ExchangeUpstream;
  private readonly pool: ConnectionPool;
  private readonly request: ExchangeRequest;
  private readonly handler: AnswerHandler;
  /** The attempt whose response counts, until a probe is answered first. */
  private attempt: Attempt | undefined;
  private probing: Attempt | undefined;
  /** When its time ends, and from when on it may probe, or leaves its turn to others: time in which the process ran. */
  private endsAtMs = 0;
  private probesAtMs = Number.POSITIVE_INFINITY;
  private hasProbed = false;
  private isRepeated = false;
  private hasHead = false;
  private isOver = false;

  /** `upstream.exchange` makes it. */
  constructor(
    upstream: ExchangeUpstream,
    pool: ConnectionPool,
    request: ExchangeRequest,
    handler: AnswerHandler,
  ) {
    this.upstream = upstream;
    this.pool = pool;
    this.request = request;
    this.handler = handler;
  }

  start(): void {
    const { request, upstream } = this;
    this.wait();
    if (request.isRepeatable) {
      this.probesAtMs = awakeMs() + upstream.probesAfterMs(request.isLive);
    }
    upstream.watch(this);
    const attempt = (this.attempt = this.newAttempt());
    if (request.isRepeatable) this.pool.take(attempt);
    else {
      // What may not be repeated gets no connection that may have died silently, nor one whose end arrives in this turn.
      setImmediate(() => {
        if (!attempt.isOver) this.pool.take(attempt, PROVEN_MS);
      });
    }
  }

  /** The connection on which the response arrives. Undefined before that is known, and after the last byte. */
  get socket(): Socket | undefined {
    return this.attempt?.connection?.socket;
  }

  /** Pauses the body. Bytes that were already read may still arrive. Once it is over, it does nothing. */
  pause(): void {
    this.attempt?.connection?.pause();
  }

  resume(): void {
    this.attempt?.connection?.resume();
  }

  /** Ends it and its connection, unless it is over. The handler gets no further call. */
  cancel(): void {
    this.end('canceled');
  }

  /** The handler has thrown. Through the parser, that would look like a fault of the upstream. */
  failBy(fault: unknown): void {
    const error = this.upstream.faultOf(fault, this.request.context);
    this.end(error);
    this.handler.onFailure({ error, reached: 'answered', isTimeout: false, cause: fault });
  }

  /** When its time is over, or it is time to probe. */
  get dueAtMs(): number {
    return Math.min(this.endsAtMs, this.probesAtMs);
  }

  onDue(nowMs: number): void {
    if (this.isOver) return;
    if (nowMs >= this.endsAtMs) this.onLate();
    else if (this.hasProbed) {
      // Nothing came on the probe either. It continues, and others have their turn.
      this.leaveTurn();
    } else if (!this.hasHead && !this.upstream.prober) this.probe();
  }

  /** Its connection has died silently, as that of another request has shown. */
  onUnproven(attempt: Attempt): void {
    if (attempt !== this.attempt || !attempt.wasKept || this.hasHead) return;
    if (this.isRepeated || !this.request.isRepeatable) return;
    // A new connection needs no probe.
    this.leaveTurn();
    if (this.probing) {
      this.leaveToProbe(attempt, 'stale', 'sent');
      return;
    }
    attempt.end('stale');
    this.repeat();
  }

  /** The upstream has the time to answer from now on. */
  onBodySent(): void {
    if (!this.hasHead && !this.isOver) this.wait();
  }

  onHead(attempt: Attempt, statusCode: number, headers: HeaderList): void {
    if (attempt === this.probing) this.takeProbe(attempt);
    else if (attempt !== this.attempt) {
      // It is alive after all, but the probe was answered before.
      attempt.end('canceled');
      return;
    }
    const fault = this.faultOf(statusCode, headers);
    if (fault) {
      this.fail('answered', fault);
      return;
    }
    this.hasHead = true;
    if (!this.request.isTimedToEnd) this.upstream.waiting.delete(this);
    this.endProbe();
    attempt.answered(statusCode);
    this.passOn(() => this.handler.onHead(statusCode, headers));
  }

  onChunk(_: Attempt, chunk: Buffer): void {
    this.passOn(() => this.handler.onChunk(chunk));
  }

  onEnd(): void {
    this.end(undefined);
    this.passOn(() => this.handler.onEnd());
  }

  private passOn(tell: () => void): void {
    try {
      tell();
    } catch (fault) {
      this.failBy(fault);
    }
  }

  onError(attempt: Attempt, error: Error, reached: Reached): void {
    const { pool, request, isRepeated } = this;
    if (attempt === this.probing) {
      this.endProbe();
      // The other attempt has failed before.
      if (!this.attempt) this.fail(reached, error);
      return;
    }
    if (attempt !== this.attempt) {
      attempt.end('canceled');
      return;
    }
    // The upstream had most likely closed the kept connection before the request arrived. That says nothing about its
    // availability.
    const wasStale = attempt.wasKept && reached === 'sent' && request.isRepeatable && !isRepeated;
    if (wasStale && !this.probing) {
      attempt.end('stale');
      this.repeat();
    } else if (error instanceof ConnectTimeout && pool.isWorthWaiting) {
      // The upstream has not accepted this connection yet, one of many. The request may wait until its own deadline.
      attempt.connectAgain();
    } else if (this.probing) {
      const how = wasStale ? 'stale' : this.errorOf({ reached, cause: error });
      this.leaveToProbe(attempt, how, reached);
    } else this.fail(reached, error);
  }

  private faultOf(statusCode: number, headers: HeaderList): Error | undefined {
    if (this.request.isJudged === false) return undefined;
    return answerFault(this.upstream, statusCode, (name) => headerValue(headers, name));
  }

  /** Its probe is the same request on a new connection, and decides. */
  private leaveToProbe(
    attempt: Attempt,
    how: Parameters<Attempt['end']>[0],
    reached: Reached,
  ): void {
    attempt.end(how);
    this.attempt = undefined;
    this.isRepeated ||= reached !== 'nowhere';
  }

  /** Sends it on a new connection, because other kept ones may be closed too. */
  private repeat(): void {
    this.isRepeated = true;
    this.attempt = this.newAttempt();
    this.pool.takeFresh(this.attempt);
  }

  private newAttempt(): Attempt {
    return new Attempt(this, this.pool, this.request, this.upstream);
  }

  /** The probe was answered first: its response counts, and the connection of the other attempt seems to be dead. */
  private takeProbe(probe: Attempt): void {
    const { attempt, upstream, request } = this;
    this.attempt = probe;
    this.probing = undefined;
    if (!attempt) return;
    const { connection, sentAtMs } = attempt;
    const answering = probe.connection?.address;
    const bury = (): void => {
      if (attempt.isOver) return;
      attempt.end('stale');
      upstream.endUnproven(sentAtMs, connection?.address, answering);
    };
    // Both attempts at a live read are answered by the same event, in any order.
    if (request.isLive) setTimeout(bury, LIVE_GRACE_MS).unref();
    else bury();
  }

  /** Sends the request beside itself. It is its turn until it has a response, or as long again as it has waited. */
  private probe(): void {
    const { upstream, request, attempt } = this;
    this.hasProbed = true;
    upstream.prober = this;
    this.probesAtMs = awakeMs() + upstream.probesAfterMs(request.isLive);
    this.probing = this.newAttempt();
    this.pool.takeFresh(this.probing, attempt?.connection?.address);
  }

  /** Probes no more. */
  private leaveTurn(): void {
    this.probesAtMs = Number.POSITIVE_INFINITY;
    if (this.upstream.prober === this) this.upstream.prober = undefined;
  }

  private endProbe(): void {
    this.leaveTurn();
    this.probing?.end('canceled');
    this.probing = undefined;
  }

  /** Begins its time again. */
  private wait(): void {
    this.endsAtMs = awakeMs() + this.request.timeoutMs;
  }

  private onLate(): void {
    const { attempt, hasHead, request, upstream } = this;
    const { timeoutMs, isLive } = request;
    if (attempt?.connection?.isSending()) this.wait();
    else {
      const silent = attempt?.connection?.address;
      this.fail(attempt?.reached ?? 'sent', undefined, timeoutMs);
      // What was silent for so long takes along what lay idle meanwhile, and other addresses come first.
      if (attempt && !hasHead && !isLive) upstream.endUnproven(attempt.sentAtMs, silent);
    }
  }

  private errorOf(failure: { reached: Reached; cause: unknown; timeoutMs?: number }): GatewayError {
    const isRefused = failure.cause instanceof RefusedCredential;
    return upstreamError({ ...this.request, upstream: this.upstream }, { ...failure, isRefused });
  }

  private fail(reached: Reached, cause: unknown, timeoutMs?: number): void {
    // Another attempt may have reached the upstream.
    const wasSent = this.isRepeated || (this.probing && this.probing.reached !== 'nowhere');
    const furthest = wasSent && reached === 'nowhere' ? 'sent' : reached;
    const failure = timeoutMs === undefined ? { cause } : { cause, timeoutMs };
    const error = this.errorOf({ reached: furthest, ...failure });
    this.end(this.hasHead ? 'broken' : error);
    const isTimeout = timeoutMs !== undefined;
    this.handler.onFailure({ error, reached: furthest, isTimeout, cause });
  }

  private end(how: Parameters<Attempt['end']>[0]): void {
    if (this.isOver) return;
    this.isOver = true;
    this.upstream.waiting.delete(this);
    this.endProbe();
    this.attempt?.end(how);
    this.attempt = undefined;
  }
}
