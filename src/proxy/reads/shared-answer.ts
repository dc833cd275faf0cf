import { awakeMs } from '../../platform/clock/awake-clock.ts';
import { TurnQueue } from '../../platform/collections/turn-queue.ts';
import {
  UnorderedList,
  type UnorderedListItem,
} from '../../platform/collections/unordered-list.ts';
import { overloaded } from '../../platform/errors/gateway-error.ts';
import type { HeaderList } from '../../platform/http/header-list.ts';
import type { HeldBytes, SlowClient } from '../../platform/memory/held-bytes.ts';
import type { RequestContext } from '../../platform/server/request-context.ts';
import { BodyStalled } from '../upstream/connections/connection-errors.ts';
import type { AnswerHandler, Exchange, ExchangeFailure } from '../upstream/exchange.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { AnswerLog } from './answer-log.ts';
import { ReadHead } from '../headers/read-head.ts';
import { SseBoundary, STALLED_EVENT_MS } from './sse-boundary.ts';

/** The largest response, other than events, that several readers share. Beyond it each sends its own request. */
export const MAX_SHARED_BODY_BYTES = 1_048_576;
/** A whole body up to this size goes out in one piece with its head, because a copy costs less than a second piece. */
const MAX_JOINED_BODY_BYTES = 16_384;
/** How far behind the newest event a reader may fall, in bytes, before its stream is ended. */
const MAX_BEHIND_BYTES = 1_048_576;
/** The most bytes of events that are kept for later readers. Beyond it no reader may join. */
const MAX_REPLAY_BYTES = 262_144;
/** What has arrived waits for the end of the turn to be sent together, up to this many bytes. */
const MAX_UNDELIVERED_BYTES = 65_536;
/** The most further bytes for a reader that is ended, to reach the end of an event. */
const MAX_TAIL_BYTES = 1_048_576;

/**
 * How a reader got its response. `first`: from an upstream request that was sent for it. `joined`: from one that
 * was sent for another reader. `apart`: from one of its own, because it cannot share one (sharing is off, it reads
 * from now on, or a response depends on its reader or is too large).
 */
export const READ_SHARES = ['first', 'joined', 'apart'] as const;
export type ReadShare = (typeof READ_SHARES)[number];

/** The request of a client, and how it is sent. */
export interface AnswerCall {
  readonly context: RequestContext;
  readonly upstream: Upstream;
  /** Set when its request is sent, or that of another one which answers it too. */
  share?: ReadShare | undefined;
  send(handler: AnswerHandler): Exchange;
}

/** A reader, as its response sees it: a place in the log. */
export interface AnswerReader extends UnorderedListItem, SlowClient {
  readonly call: AnswerCall;
  /** The positions after what was written, and after what the kernel has accepted. */
  writtenTo: number;
  takenTo: number;
  /** Whether so many bytes are in flight that it must not write more for now. */
  readonly isFull: boolean;
  /** Joins an answer, which may have begun. */
  join(answer: SharedAnswer): void;
  /** Its response has begun, the log has more for it, or has ended. */
  wake(): void;
  /** Leaves its answer, and ends its response with these bytes. */
  endWith(rest: Buffer): void;
  fail(error: Error): void;
  /** Ends it from outside: where it can resume, if its response has begun. */
  endEarly(error: Error): void;
  /** Its client gets the rest within this time, or is dropped. */
  dropIn(timeoutMs: number): void;
}

/** Decides which readers an answer has. */
export interface AnswerOwner {
  /** No further reader may join it. */
  closed(answer: SharedAnswer): void;
  /** The next equal request need not wait for it. */
  released(answer: SharedAnswer): void;
}

/** How long in milliseconds the last reader of an event stream may take to receive its last bytes. */
const LAST_BYTES_MS = 30_000;

/**
 * One response of an upstream and its readers: its head, one log of its bytes, the places where it may end. Each reader has
 * its own position in the log, and gets the next bytes when it has read the last ones. The fastest reader sets the pace.
 *
 * An event stream ends a reader that falls far behind where it can resume, and gives a later reader everything from the
 * start as long as the log still has it. Any other response is shared only if it is small: none of its readers makes
 * the others wait, and all of it is kept until the last one has it.
 */
export class SharedAnswer implements AnswerHandler {
  private readonly owner: AnswerOwner | undefined;
  private readonly held: HeldBytes;
  private readonly readers = new UnorderedList<AnswerReader>();
  /** The read whose request was sent. */
  private call: AnswerCall | undefined;
  private exchange: Exchange | undefined;
  head: ReadHead | undefined;
  private log: AnswerLog;
  /** Whether its readers have begun. They have not while it is unknown whether several may share the response. */
  hasBegun = false;
  private isComplete = false;
  private isOpen = true;
  private isReleased = false;
  /** When the last bytes came, or the request was sent: time in which the process ran. */
  private heardAtMs = 0;
  private deliveredTo = 0;
  private isDue = false;
  private isTrimDue = false;
  /** Readers that end after the current event. Usually there are none. */
  private ending: Set<AnswerReader> | undefined;
  private text: string | undefined;

  /** Without an owner nobody else may join it. */
  constructor(owner: AnswerOwner | undefined, held: HeldBytes) {
    this.owner = owner;
    this.held = held;
    this.log = new AnswerLog(held, 'answers');
  }

  /** Sends a request for this reader and no other. */
  static sendApart(reader: AnswerReader, held: HeldBytes): void {
    const answer = new SharedAnswer(undefined, held);
    reader.join(answer);
    answer.launch('apart');
  }

  get hasReaders(): boolean {
    return this.readers.size > 0;
  }

  get isEvents(): boolean {
    return this.head?.isEventStream === true;
  }

  /** Whether it has been silent for longer than its protocol allows, so that its connection may have died. */
  get isSilent(): boolean {
    const longestMs = this.call?.upstream.protocol.longestSilenceMs;
    if (!longestMs) return false;
    return awakeMs() - this.heardAtMs >= (this.isEvents ? longestMs.events : longestMs.poll);
  }

  /** Sends the request of the first reader that has joined. `share` is what counts for that reader. */
  launch(share: ReadShare): void {
    const { first } = this.readers;
    if (!first) return;
    this.call = first.call;
    this.heardAtMs = awakeMs();
    for (const { call } of this.readers) this.joinTo(first.call, call);
    first.call.share = share;
    this.exchange = first.call.send(this);
  }

  /** Adds a reader. It gets the response from its beginning. Call it only until `closed`. */
  join(reader: AnswerReader): void {
    this.readers.add(reader);
    if (this.call) this.joinTo(this.call, reader.call);
    if (this.hasBegun) reader.wake();
  }

  /** The reader has disconnected, or has its whole response. */
  leave(reader: AnswerReader): void {
    if (reader.listIndex === undefined) return;
    this.readers.delete(reader);
    this.ending?.delete(reader);
    if (this.readers.size > 0) {
      if (reader.takenTo < this.log.end) this.trimSoon();
      return;
    }
    this.end();
    this.exchange?.cancel();
  }

  onHead(statusCode: number, headers: HeaderList): void {
    const head = (this.head = new ReadHead(statusCode, headers));
    this.heardAtMs = awakeMs();
    if (head.isForOne) this.sendOthersApart(({ call }) => call === this.call);
    if (!this.hasReaders) return;
    if (head.isEventStream) {
      const boundary = head.isEncoded
        ? undefined
        : new SseBoundary(this.call?.upstream.protocol.safeEvent);
      this.log = new AnswerLog(this.held, 'events', boundary);
      if (head.isForOne) this.close();
      this.release();
    } else {
      this.close();
      // Several share it only if it turns out to be small.
      if (this.readers.size > 1) return;
    }
    this.begin();
  }

  onChunk(chunk: Buffer): void {
    const { log } = this;
    this.heardAtMs = awakeMs();
    const safeEnd = log.append(chunk);
    if (safeEnd !== undefined) for (const reader of this.ending ?? []) this.endAt(reader, safeEnd);
    if (this.isEvents) {
      if (log.end > MAX_REPLAY_BYTES || !this.held.hasRoom()) this.close();
    } else if (log.end > MAX_SHARED_BODY_BYTES) {
      // A large body must not delay the readers that wait for their turn.
      this.release();
      if (!this.hasBegun) {
        const { first } = this.readers;
        this.sendOthersApart((reader) => reader === first);
        this.begin();
      }
    }
    if (this.hasBegun) log.countHeld();
    else if (!log.reserveArrived()) this.refuseAll();
    if (log.end - this.deliveredTo >= MAX_UNDELIVERED_BYTES) this.deliver();
    else this.deliverSoon();
  }

  onEnd(): void {
    this.isComplete = true;
    this.exchange = undefined;
    this.close();
    this.release();
    this.begin();
  }

  onFailure({ error, cause }: ExchangeFailure): void {
    this.exchange = undefined;
    this.close();
    this.release();
    // What came in this turn goes out, so that a response that breaks off with its head looks broken, too.
    if (this.isDue) this.deliver();
    // A stream that is only silent may end where its readers can resume.
    const isSilence = this.isEvents && cause instanceof BodyStalled;
    for (const reader of this.readers.snapshot()) {
      if (isSilence) reader.endEarly(error);
      else reader.fail(error);
    }
  }

  /** The gateway has failed to pass it on. */
  failBy(fault: unknown): void {
    if (this.exchange) this.exchange.failBy(fault);
    else if (this.call) {
      const error = this.call.upstream.faultOf(fault, this.call.context);
      for (const reader of this.readers.snapshot()) reader.fail(error);
    }
  }

  /** The whole body as latin1, if it is complete and so small that it goes out with its head. */
  get wholeText(): string | undefined {
    if (!this.isComplete || this.log.end > MAX_JOINED_BODY_BYTES || this.isEvents) return undefined;
    return (this.text ??= this.log.end === 0 ? '' : this.log.whole().toString('latin1'));
  }

  /** The length of the body in bytes, if it is complete and not empty. */
  get wholeLength(): number | undefined {
    return this.isComplete && !this.isEvents && this.log.end > 0 ? this.log.end : undefined;
  }

  /** The next piece for a reader, if there is one. Call it as long as the reader is not full. */
  next(reader: AnswerReader): Buffer | undefined {
    if (reader.writtenTo === this.log.end) return undefined;
    const piece = this.log.view(reader.writtenTo);
    reader.writtenTo += piece.length;
    if (reader.writtenTo === this.log.end) this.exchange?.resume();
    return piece;
  }

  /** Whether the body is complete with the last piece of `next`. */
  isWhole({ writtenTo }: AnswerReader): boolean {
    return this.isComplete && writtenTo === this.log.end;
  }

  /** The kernel has accepted a piece for the reader. */
  onTaken(reader: AnswerReader): void {
    if (this.readers.size === 1) this.trim();
    else this.trimSoon();
    if (reader.writtenTo === this.log.end) this.exchange?.resume();
  }

  /** The reader must end where it can resume. Any response but events is finite, and may finish. */
  endSoon(reader: AnswerReader, reason: Error): void {
    if (!this.isEvents || this.ending?.has(reader)) return;
    if (!this.log.boundary) {
      reader.fail(reason);
      return;
    }
    const end = this.log.safeEndFrom(reader.writtenTo);
    if (end !== undefined) {
      this.endAt(reader, end);
      return;
    }
    this.ending ??= new Set();
    this.ending.add(reader);
    reader.dropIn(STALLED_EVENT_MS);
  }

  /** Wakes the readers that have read everything before. */
  deliver(): void {
    this.isDue = false;
    if (!this.hasBegun) return;
    this.deliveredTo = this.log.end;
    let behind = 0;
    // Most responses have one reader.
    const { size, first } = this.readers;
    for (const reader of size === 1 && first ? [first] : this.readers.snapshot()) {
      if (reader.isFull) {
        behind++;
        this.held.addSlow(reader);
      } else reader.wake();
    }
    if (behind === 0) return;
    if (behind < this.readers.size) this.endTooSlow();
    else {
      this.exchange?.pause();
      // A slow client must not delay the readers that wait for their turn.
      if (!this.isEvents) this.release();
    }
  }

  /** Releases the bytes that every reader has read. */
  trim(): void {
    this.isTrimDue = false;
    if (this.isOpen || this.log.start === this.log.end) return;
    let needed = this.log.end;
    for (const { takenTo } of this.readers) if (takenTo < needed) needed = takenTo;
    this.log.trim(needed);
  }

  /** Its readers begin when this turn of the event loop ends, with the part of the body that has arrived by then. */
  private begin(): void {
    const { first, size } = this.readers;
    this.hasBegun = true;
    if (first && size === 1 && !this.isEvents && this.exchange) {
      first.call.context.ownRead = this.exchange;
    }
    this.deliverSoon();
  }

  private deliverSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    deliveries.add(this);
  }

  /** One upstream request answers both. */
  private joinTo(first: AnswerCall, call: AnswerCall): void {
    call.share = 'joined';
    call.context.sharedWith = call === first ? undefined : first.context;
  }

  /** All readers except the one that stays send a request of their own. */
  private sendOthersApart(stays: (reader: AnswerReader) => boolean): void {
    for (const reader of this.readers.snapshot()) {
      if (stays(reader)) continue;
      this.readers.delete(reader);
      SharedAnswer.sendApart(reader, this.held);
    }
    if (this.readers.size > 0) return;
    this.end();
    this.exchange?.cancel();
  }

  private refuseAll(): void {
    const error = overloaded('memory', 'The gateway holds too much that clients have not read yet');
    for (const reader of this.readers.snapshot()) reader.fail(error);
  }

  /** A lone reader is never too slow: the upstream waits for it. Only events have places where a reader may end. */
  private endTooSlow(): void {
    if (!this.isEvents || this.log.end - this.log.start <= MAX_BEHIND_BYTES) return;
    for (const reader of this.readers.snapshot()) {
      if (!reader.isFull || this.log.end - reader.takenTo <= MAX_BEHIND_BYTES) continue;
      // Its response has begun, so no error can be sent.
      reader.call.context.errorReason = 'slow_reader';
      const end = this.log.safeEndFrom(reader.writtenTo);
      if (end === undefined) reader.shed();
      else this.endAt(reader, end);
    }
  }

  /** Ends a reader at a position that it has not passed. The log need not wait until its client has taken the rest. */
  private endAt(reader: AnswerReader, end: number): void {
    if (end - reader.writtenTo > MAX_TAIL_BYTES) {
      reader.shed();
      return;
    }
    reader.dropIn(LAST_BYTES_MS);
    reader.endWith(this.log.copy(reader.writtenTo, end));
  }

  /** Nobody reads it any more. */
  private end(): void {
    this.close();
    this.release();
    this.log.trim(this.log.end);
  }

  private close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.owner?.closed(this);
    if (this.isEvents) this.trim();
  }

  private release(): void {
    if (this.isReleased || !this.call) return;
    this.isReleased = true;
    this.owner?.released(this);
  }

  /** Runs once per turn for all readers that read or leave, because it checks every reader. */
  private trimSoon(): void {
    if (this.isTrimDue) return;
    this.isTrimDue = true;
    trims.add(this);
  }
}

/** Answers that got bytes in this turn of the event loop. */
const deliveries = new TurnQueue<SharedAnswer>(
  (answer) => answer.deliver(),
  (answer, fault) => answer.failBy(fault),
);

/** Answers whose readers have read or left in this turn. */
const trims = new TurnQueue<SharedAnswer>((answer) => answer.trim());
