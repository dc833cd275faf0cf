import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { headerValue, type HeaderList } from '../../../platform/http/header-list.ts';
import { AnswerParser } from '../../../platform/private-parts/answer-parser.ts';
import { isEventStream } from '../media-types.ts';
import type { Reached } from '../send-again.ts';
import { BodyStalled, ConnectionClosed, ConnectTimeout } from './connection-errors.ts';
import type { Connector } from './connector.ts';
import { bodyMayFollow, IDLE_TIMEOUT_MS, idleTimeoutMs, MAX_AGE_MS } from './idle-time.ts';
import { joined } from './joined.ts';
import { requestText } from './request-text.ts';
import { mayReadOn, type TurnWaiter } from './turn-share.ts';
import type { WireAttempt, WireRequest } from './wire-exchange.ts';

const READ_BYTES = 65_536;
/** From this size, a piece of a body is passed on by itself. */
const MIN_UNJOINED_BYTES = 8_192;

/**
 * The buffer of all connections: each parses its bytes before the next one reads. Windows reads in the background,
 * into a buffer per connection.
 */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
const isReadAtOnce = process.platform !== 'win32';

const UNPROVEN_END =
  "the end of the upstream's answer cannot be told from a cut: it has no length of its own, over TLS";

/** Timeouts in milliseconds. */
export interface ConnectionTimeouts {
  /** The longest time to open. */
  connectMs: number;
  /** The longest time without a byte of a body that has begun. */
  stallMs: number;
  /** The same for a body that may be silent, such as an event stream. */
  silenceMs: number;
}

export interface ConnectionOptions {
  connect: Connector;
  /** The time at which it begins to open, on the clock of `checkTimeouts`. */
  openedAtMs: number;
  /** Whether it may be kept for another request. */
  isKept: boolean;
  /** An address that it tries last. */
  besides?: string | undefined;
  /** Called once: it has opened, or has failed to for a reason, or nobody needs it any more. */
  onSettled(isOpen: boolean, failure?: Error): void;
  /** Called, perhaps again, when it can no longer be used. Its request learns of that separately. */
  onLost(connection: UpstreamConnection): void;
}

/**
 * One connection to an upstream for one request at a time, opened with its first one. It writes requests as text and parses
 * responses where they lie in memory. With undici a read takes a fifth more processor time, and a parked one a fifth more
 * memory, measured.
 */
export class UpstreamConnection implements TurnWaiter {
  /** Until when it may be kept for another request, in milliseconds of `performance.now()`. 0 if it may not. */
  usableUntilMs = 0;
  /** Whether a request has had its response on it. */
  hasServed = false;
  /** When it opened, or its last response was complete, in milliseconds of `performance.now()`. */
  provenAtMs = 0;
  /** The address at which it has opened. A socket forgets it when it closes. */
  address: string | undefined;
  private readonly options: ConnectionOptions;
  readonly socket: Socket;
  private readonly received = isReadAtOnce ? sharedBuffer : Buffer.allocUnsafeSlow(READ_BYTES);
  private readonly parser: AnswerParser;
  /** Small pieces of the body within the bytes that are being parsed. */
  private pieces: Buffer[] = [];
  /** The current request. */
  attempt: WireAttempt | undefined;
  private method = 'GET';
  /** Whether the body of its response may be silent for a long time, like an event stream. */
  private mayBeSilent = false;
  /** The streamed body that is being sent, and how many bytes had left at the last look. Whoever gave it ends the request if it breaks off. */
  private body: Readable | undefined;
  private sentBytes = 0;
  /** How far its current request came. */
  reached: Reached = 'nowhere';
  private idleTimeoutMs = IDLE_TIMEOUT_MS;
  /** When it opened, in milliseconds of `performance.now()`. */
  private bornAtMs: number | undefined;
  private isDiscarded = false;
  /** Whether its request has paused it. */
  private isPaused = false;
  /** Whether it has used its share of this turn of the event loop. */
  private hasHadItsShare = false;
  /** The number of reads of the socket, that number at the last check, and since when it has not changed. */
  private comings = 0;
  private seenComings = 0;
  private stillSinceMs = 0;
  /** The request that waits for the connection to open. */
  private unsent: WireRequest | undefined;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.parser = new AnswerParser({
      onHead: (statusCode, headers) => this.onHead(statusCode, headers),
      onBody: (piece) => this.onBody(piece),
    });
    const onread = { buffer: this.received, callback: (length: number) => this.onBytes(length) };
    this.socket = options.connect(onread, () => this.onOpen(), options.besides);
    // `close` follows. `errored` has the reason.
    this.socket.on('error', () => undefined);
    this.socket.on('end', () => this.onEof());
    this.socket.on('close', () => this.onClose());
  }

  get isOpen(): boolean {
    return this.bornAtMs !== undefined;
  }

  /** Sends a request. There may be only one at a time. */
  send(request: WireRequest, attempt: WireAttempt): void {
    this.attempt = attempt;
    this.method = request.method;
    this.reached = 'nowhere';
    this.usableUntilMs = 0;
    this.parser.expect(request.method);
    if (this.isOpen) this.write(request);
    else this.unsent = request;
  }

  /**
   * Whether a streamed body is still being sent, and the upstream does not hold it up: bytes have left since the last call, or
   * the rest of the body has yet to come.
   */
  isSending(): boolean {
    const { socket, body, sentBytes } = this;
    if (!body) return false;
    this.sentBytes = socket.bytesWritten - socket.writableLength;
    return this.sentBytes > sentBytes || (!socket.writableNeedDrain && !body.readableEnded);
  }

  /** Pauses the body. Bytes that were already read still arrive. */
  pause(): void {
    this.isPaused = true;
    this.socket.pause();
  }

  /** Does nothing unless it is paused. */
  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    if (!this.hasHadItsShare) this.socket.resume();
  }

  /** Called at the end of a turn of the event loop in which it has used its share. */
  nextTurn(): void {
    this.hasHadItsShare = false;
    if (!this.isPaused) this.socket.resume();
  }

  /** Closes the connection if it takes too long to open, or if its response has stalled. Call it periodically. */
  checkTimeouts(nowMs: number, { connectMs, stallMs, silenceMs }: ConnectionTimeouts): void {
    if (!this.isOpen) {
      if (nowMs - this.options.openedAtMs >= connectMs) {
        this.socket.destroy(new ConnectTimeout(connectMs));
      }
      return;
    }
    const isOwed = this.parser.isInBody && !this.isPaused && this.attempt !== undefined;
    const longestMs = this.mayBeSilent ? silenceMs : stallMs;
    if (!isOwed || this.comings !== this.seenComings) {
      this.seenComings = this.comings;
      this.stillSinceMs = nowMs;
    } else if (nowMs - this.stillSinceMs >= longestMs) this.fail(new BodyStalled(longestMs));
  }

  /** Closes the connection. Its current request gets no further call. */
  discard(): void {
    this.isDiscarded = true;
    this.release();
    this.socket.destroy();
  }

  private onOpen(): void {
    this.bornAtMs = this.provenAtMs = performance.now();
    this.address = this.socket.remoteAddress;
    const { unsent } = this;
    this.unsent = undefined;
    if (unsent && this.attempt) this.write(unsent);
    this.options.onSettled(true);
  }

  private write(request: WireRequest): void {
    const head = requestText(request, this.options.isKept);
    if (head === undefined) {
      this.fail(new Error('the request holds what cannot be sent'));
      return;
    }
    const { socket } = this;
    const { body } = request;
    this.reached = 'sent';
    if (!body) socket.write(head, 'latin1');
    else if ('bytes' in body) {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body.bytes);
      socket.uncork();
    } else {
      // The head goes at once, so that the upstream does not close the connection as idle.
      socket.write(head, 'latin1');
      this.body = body.stream.once('end', this.onBodyEnd);
      this.body.pipe(socket, { end: false });
    }
  }

  private onBytes(length: number): boolean {
    if (!this.attempt) {
      // The bytes belong to no request.
      this.options.onLost(this);
      return true;
    }
    this.reached = 'answered';
    this.comings++;
    let error: Error | undefined;
    try {
      error = this.parser.parse(this.received.subarray(0, length));
    } catch (thrown) {
      error = thrown as Error;
    }
    if (this.pieces.length > 0) this.passOnPieces();
    if (this.parser.isComplete) this.finish(error === undefined && !this.parser.hasExcess);
    else if (error) this.fail(error);
    this.hasHadItsShare = length === READ_BYTES && !mayReadOn(this);
    return !this.hasHadItsShare;
  }

  private onHead(statusCode: number, headers: HeaderList): void {
    const header = (name: string): string | undefined => headerValue(headers, name);
    const isOpenEnded = bodyMayFollow(this.method, statusCode, header);
    this.idleTimeoutMs = isOpenEnded ? 0 : idleTimeoutMs(headers);
    this.mayBeSilent = isEventStream(header('content-type'));
    this.attempt?.owner.onHead(this.attempt, statusCode, headers);
  }

  private onBody(piece: Buffer): void {
    if (piece.length < MIN_UNJOINED_BYTES) {
      this.pieces.push(piece);
      return;
    }
    if (this.pieces.length > 0) this.passOnPieces();
    // The reference is cleared at once, because V8 keeps everything alive that an old object references until its
    // next full collection.
    this.attempt?.owner.onChunk(this.attempt, piece);
  }

  /** Joins small pieces of a body that arrived together, because each costs as much as a large one. */
  private passOnPieces(): void {
    const { pieces } = this;
    this.pieces = [];
    const [only] = pieces;
    const chunk = pieces.length === 1 && only ? only : joined(pieces);
    this.attempt?.owner.onChunk(this.attempt, chunk);
  }

  private onEof(): void {
    const isInAnswer = this.attempt && this.reached === 'answered';
    const error = isInAnswer ? this.parser.finish() : undefined;
    if (this.parser.isComplete) {
      // Only the end of the connection marks the end of the body, and with TLS anybody on the network path can end a connection.
      if (this.socket instanceof TLSSocket) this.fail(new Error(UNPROVEN_END));
      else this.finish(false);
    } else this.fail(error ?? new ConnectionClosed());
    this.options.onLost(this);
  }

  private onClose(): void {
    const reason = this.socket.errored ?? new ConnectionClosed();
    if (!this.isOpen) this.options.onSettled(false, this.isDiscarded ? undefined : reason);
    this.fail(reason);
    this.options.onLost(this);
    this.parser.close();
  }

  private finish(isClean: boolean): void {
    const { attempt, options, bornAtMs = 0 } = this;
    if (!attempt) return;
    // A body that was not sent to its end stands before the next request.
    const isWhole = this.body === undefined;
    this.release();
    this.hasServed = true;
    const nowMs = (this.provenAtMs = performance.now());
    const untilMs = Math.min(nowMs + this.idleTimeoutMs, bornAtMs + MAX_AGE_MS);
    if (isClean && isWhole && options.isKept && this.parser.keepsOpen && untilMs > nowMs) {
      this.usableUntilMs = untilMs;
      this.isPaused = false;
      if (!this.hasHadItsShare && this.socket.isPaused()) this.socket.resume();
    }
    attempt.owner.onEnd(attempt);
  }

  private fail(error: Error): void {
    const { attempt } = this;
    this.release();
    attempt?.owner.onError(attempt, error, this.reached);
  }

  /** Its request is over. */
  private release(): void {
    this.attempt = undefined;
    // The rest is read all the same, because it stands before the next request on the connection of the client.
    this.body?.off('end', this.onBodyEnd).unpipe(this.socket).resume();
    this.body = undefined;
  }

  private readonly onBodyEnd = (): void => {
    this.body = undefined;
    this.attempt?.owner.onBodySent(this.attempt);
  };
}
