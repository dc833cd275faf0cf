import type { Socket } from 'node:net';
import { joined } from '../../../platform/collections/joined.ts';
import { headerValue, type HeaderList } from '../../../platform/http/header-list.ts';
import type { Reached } from '../send-again.ts';
import type { AnswerHandler } from './answer-handler.ts';
import { AnswerParser } from '../../../platform/private-parts/answer-parser.ts';
import { BodyStalled, ConnectionClosed, ConnectTimeout } from './connection-errors.ts';
import { bodyMayFollow, IDLE_TIMEOUT_MS, idleTimeoutMs } from './idle-time.ts';
import { requestText } from './request-text.ts';
import { mayReadOn, type TurnWaiter } from './turn-share.ts';
import { unprovenEnd } from './unproven-end.ts';
import type { Connector } from './upstream-socket.ts';

const READ_BYTES = 65_536;
/** From this size, a piece of a body is passed on by itself. */
const MIN_UNJOINED_BYTES = 8_192;

/**
 * The buffer of all connections: each parses its bytes before the next one reads. Windows reads in the background,
 * into a buffer per connection.
 */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
const isReadAtOnce = process.platform !== 'win32';

/** Timeouts in milliseconds. */
export interface ConnectionTimeouts {
  /** The longest time to open. */
  connectMs: number;
  /** The longest time without a byte of a body that has begun. */
  stallMs: number;
}

export interface ConnectionOptions {
  connect: Connector;
  /** The time at which it begins to open, on the clock of `look`. */
  openedAtMs: number;
  /** Called once, when it has opened or has failed to. */
  onSettled(isOpen: boolean): void;
  /** Called when it can no longer be used. Its read learns of that separately. */
  onLost(connection: ReadConnection): void;
}

/**
 * One connection to an upstream for one read at a time, opened with its first read. It writes requests as text and parses
 * responses where they lie in memory. With undici a read takes a fifth more processor time, and a parked one a fifth more
 * memory, measured.
 */
export class ReadConnection implements TurnWaiter {
  /** Until when it may be kept for another read, in milliseconds of `performance.now()`. 0 if it may not. */
  usableUntilMs = 0;
  /** Whether a read has had its response on it. */
  hasServed = false;
  private readonly options: ConnectionOptions;
  readonly socket: Socket;
  private readonly received = isReadAtOnce ? sharedBuffer : Buffer.allocUnsafeSlow(READ_BYTES);
  private readonly parser: AnswerParser;
  /** Small pieces of the body within the bytes that are being parsed. */
  private pieces: Buffer[] = [];
  /** The observer of the current read. */
  private handler: AnswerHandler | undefined;
  private method: 'GET' | 'HEAD' = 'GET';
  /** How far its current read came. */
  reached: Reached = 'nowhere';
  private idleTimeoutMs = IDLE_TIMEOUT_MS;
  private isOpen = false;
  private isLost = false;
  /** Whether its reader has paused it. */
  private isPaused = false;
  /** Whether it has used its share of this turn of the event loop. */
  private hasHadItsShare = false;
  /** The number of reads of the socket, that number at the last check, and since when it has not changed. */
  private comings = 0;
  private seenComings = 0;
  private stillSinceMs = 0;
  /** The request that waits for the connection to open. */
  private unsentRequest: string | undefined;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.parser = new AnswerParser({
      onHead: (statusCode, headers) => this.onHead(statusCode, headers),
      onBody: (piece) => this.onBody(piece),
    });
    const onread = { buffer: this.received, callback: (length: number) => this.onBytes(length) };
    this.socket = options.connect(onread, () => this.onOpen());
    // `close` follows. `errored` has the reason.
    this.socket.on('error', () => undefined);
    this.socket.on('end', () => this.onEof());
    this.socket.on('close', () => this.onClose());
  }

  /** Sends a request. There may be only one at a time. */
  send(method: 'GET' | 'HEAD', target: string, headers: HeaderList, handler: AnswerHandler): void {
    this.handler = handler;
    this.method = method;
    this.reached = 'nowhere';
    this.usableUntilMs = 0;
    this.parser.expect(method);
    const request = requestText(method, target, headers);
    if (request === undefined) this.fail(new Error('the request holds what cannot be sent'));
    else if (this.isOpen) this.write(request);
    else this.unsentRequest = request;
  }

  /** Pauses the body. Bytes that were already read still arrive. */
  pause(): void {
    this.isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    this.isPaused = false;
    if (!this.hasHadItsShare) this.socket.resume();
  }

  /** Called at the end of a turn of the event loop in which it has used its share. */
  nextTurn(): void {
    this.hasHadItsShare = false;
    if (!this.isPaused) this.socket.resume();
  }

  /** Closes the connection if it takes too long to open, or if its response has stalled. Call it periodically. */
  checkTimeouts(nowMs: number, { connectMs, stallMs }: ConnectionTimeouts): void {
    if (!this.isOpen) {
      if (nowMs - this.options.openedAtMs >= connectMs) {
        this.socket.destroy(new ConnectTimeout(connectMs));
      }
      return;
    }
    const isOwed = this.parser.isInBody && !this.isPaused && this.handler?.mayBeSilent === false;
    if (!isOwed || this.comings !== this.seenComings) {
      this.seenComings = this.comings;
      this.stillSinceMs = nowMs;
    } else if (nowMs - this.stillSinceMs >= stallMs) this.fail(new BodyStalled(stallMs));
  }

  /** Closes the connection. Its current read gets no further call. */
  discard(): void {
    this.handler = undefined;
    this.socket.destroy();
  }

  private onOpen(): void {
    this.isOpen = true;
    if (this.unsentRequest !== undefined) this.write(this.unsentRequest);
    this.unsentRequest = undefined;
    this.options.onSettled(true);
  }

  private write(request: string): void {
    this.reached = 'sent';
    this.socket.write(request, 'latin1');
  }

  private onBytes(length: number): boolean {
    if (!this.handler) {
      // The bytes belong to no request.
      this.lose();
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
    this.handler?.onHead(statusCode, headers);
  }

  private onBody(piece: Buffer): void {
    if (piece.length < MIN_UNJOINED_BYTES) {
      this.pieces.push(piece);
      return;
    }
    if (this.pieces.length > 0) this.passOnPieces();
    // The reference is cleared at once, because V8 keeps everything alive that an old object references until its
    // next full collection.
    this.handler?.onChunk(piece);
  }

  /** Joins small pieces of a body that arrived together, because each costs as much as a large one. */
  private passOnPieces(): void {
    const { pieces } = this;
    this.pieces = [];
    const [only] = pieces;
    this.handler?.onChunk(pieces.length === 1 && only ? only : joined(pieces));
  }

  private onEof(): void {
    const isInAnswer = this.handler && this.reached === 'answered';
    const error = isInAnswer ? this.parser.finish() : undefined;
    if (this.parser.isComplete) {
      const unproven = unprovenEnd(this.socket);
      if (unproven) this.fail(unproven);
      else this.finish(false);
    } else this.fail(error ?? new ConnectionClosed());
    this.lose();
  }

  private onClose(): void {
    if (!this.isOpen) this.options.onSettled(false);
    this.fail(this.socket.errored ?? new ConnectionClosed());
    this.lose();
    this.parser.close();
  }

  private finish(isClean: boolean): void {
    const { handler } = this;
    if (!handler) return;
    this.handler = undefined;
    this.hasServed = true;
    if (isClean && this.parser.keepsOpen && this.idleTimeoutMs > 0) {
      this.usableUntilMs = performance.now() + this.idleTimeoutMs;
      this.isPaused = false;
      if (!this.hasHadItsShare && this.socket.isPaused()) this.socket.resume();
    }
    handler.onEnd();
  }

  private fail(error: Error): void {
    const { handler } = this;
    this.handler = undefined;
    handler?.onError(error, this.reached);
  }

  private lose(): void {
    if (this.isLost) return;
    this.isLost = true;
    this.options.onLost(this);
  }
}
