import type { Socket } from 'node:net';
import { joined } from '../../collections/joined.ts';
import type { HeaderList } from '../../http/header-list.ts';
import type { Reached } from '../send-again.ts';
import { AnswerParser } from '../../private-parts/answer-parser.ts';
import { BodyStalled, ConnectionClosed, ConnectTimeout } from './connection-errors.ts';
import { IDLE_TIMEOUT_MS, idleTimeoutMs } from './idle-time.ts';
import { requestText } from './request-text.ts';
import { mayReadOn, type TurnWaiter } from './turn-share.ts';
import { unprovenEnd } from './unproven-end.ts';
import type { Connector } from './upstream-socket.ts';

const READ_BYTES = 65_536;
/** From this size, a piece of a body is passed on by itself. */
const MIN_UNJOINED_BYTES = 8_192;

/**
 * What all connections read into: each parses what it has read before the next one reads. Windows reads in
 * the background, into each one's own.
 */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
const isReadAtOnce = process.platform !== 'win32';

/** What a connection's read hears of its answer; nothing after `onEnd` or `onError`. */
export interface AnswerHandler {
  /** The body may be silent for as long as it likes, as a stream of events may. */
  readonly mayBeSilent: boolean;
  onHead(statusCode: number, headers: HeaderList): void;
  onChunk(chunk: Buffer): void;
  /** The answer is whole. */
  onEnd(): void;
  /** No answer, or one that was cut or cannot be used. */
  onError(error: Error, reached: Reached): void;
}

/** In milliseconds. */
export interface ConnectionTimeouts {
  /** To open. */
  connectMs: number;
  /** In which no byte comes of a body that has begun. */
  stallMs: number;
}

export interface ConnectionOptions {
  connect: Connector;
  /** When it begins to open, by the clock that `look` is called with. */
  openedAtMs: number;
  /** Called once, when it has opened or never will. */
  onSettled(isOpen: boolean): void;
  /** Called when it is of no use any more; a read that is under way hears of that by itself. */
  onLost(connection: ReadConnection): void;
}

/**
 * One connection to an upstream for one read at a time, opened with its first read. It writes requests as text and parses
 * responses where they lie in memory. With undici a read takes a fifth more processor time, and a parked one a fifth more
 * memory, measured.
 */
export class ReadConnection implements TurnWaiter {
  /** Until when it may be kept for a next read, as `performance.now()` gives it; 0 for not at all. */
  usableUntilMs = 0;
  /** A read has had its answer on it. */
  hasServed = false;
  private readonly options: ConnectionOptions;
  private readonly socket: Socket;
  private readonly received = isReadAtOnce ? sharedBuffer : Buffer.allocUnsafeSlow(READ_BYTES);
  private readonly parser: AnswerParser;
  /** Small pieces of the body in the bytes that are parsed just now. */
  private pieces: Buffer[] = [];
  /** Of the read under way. */
  private handler: AnswerHandler | undefined;
  private reached: Reached = 'nowhere';
  private idleTimeoutMs = IDLE_TIMEOUT_MS;
  private isOpen = false;
  private isLost = false;
  /** Its reader takes nothing more for now. */
  private isPaused = false;
  /** It has had its share of this turn of the event loop. */
  private hasHadItsShare = false;
  /** How often something came; and how often when it was looked at last, and since when nothing has come. */
  private comings = 0;
  private seenComings = 0;
  private stillSinceMs = 0;
  /** The request that waits for the connection to open. */
  private held: string | undefined;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.parser = new AnswerParser({
      onHead: (statusCode, headers) => this.onHead(statusCode, headers),
      onBody: (piece) => this.onBody(piece),
    });
    const onread = { buffer: this.received, callback: (length: number) => this.onBytes(length) };
    this.socket = options.connect(onread, () => this.onOpen());
    // `close` follows, and tells why by `errored`.
    this.socket.on('error', () => undefined);
    this.socket.on('end', () => this.onEof());
    this.socket.on('close', () => this.onClose());
  }

  /** Sends a request; one at a time. */
  send(method: 'GET' | 'HEAD', target: string, headers: HeaderList, handler: AnswerHandler): void {
    this.handler = handler;
    this.reached = 'nowhere';
    this.usableUntilMs = 0;
    this.parser.expect(method);
    const request = requestText(method, target, headers);
    if (request === undefined) this.fail(new Error('the request holds what cannot be sent'));
    else if (this.isOpen) this.write(request);
    else this.held = request;
  }

  /** Stops the answer's body; what has been read already still comes. */
  pause(): void {
    this.isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    this.isPaused = false;
    if (!this.hasHadItsShare) this.socket.resume();
  }

  /** A turn of the event loop has ended in which it had its share. */
  nextTurn(): void {
    this.hasHadItsShare = false;
    if (!this.isPaused) this.socket.resume();
  }

  /** Ends it where it takes too long to open, or where its answer has stopped coming; to be called now and then. */
  look(nowMs: number, { connectMs, stallMs }: ConnectionTimeouts): void {
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

  /** Closes it; a read that is under way hears nothing more. */
  discard(): void {
    this.handler = undefined;
    this.socket.destroy();
  }

  private onOpen(): void {
    this.isOpen = true;
    if (this.held !== undefined) this.write(this.held);
    this.held = undefined;
    this.options.onSettled(true);
  }

  private write(request: string): void {
    this.reached = 'sent';
    this.socket.write(request, 'latin1');
  }

  private onBytes(length: number): boolean {
    if (!this.handler) {
      // Nobody has asked for anything.
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
    this.idleTimeoutMs = idleTimeoutMs(headers);
    this.handler?.onHead(statusCode, headers);
  }

  private onBody(piece: Buffer): void {
    if (piece.length < MIN_UNJOINED_BYTES) {
      this.pieces.push(piece);
      return;
    }
    if (this.pieces.length > 0) this.passOnPieces();
    // Not kept for a moment even: V8 would take what an old object points to for alive until its next full collection.
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
