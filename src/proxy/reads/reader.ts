import type { ServerResponse } from 'node:http';
import { breakOff } from '../../request/break-off.ts';
import { ClientGone } from '../../request/client-gone.ts';
import type { BagItem } from '../../collections/bag.ts';
import { TurnQueue } from '../../collections/turn-queue.ts';
import { flushAnswerHead, writeAnswerHead } from '../answer-head.ts';
import type { Deadline } from '../deadlines.ts';
import { STALLED_EVENT_MS, type SseBoundary } from '../sse-boundary.ts';
import type { AnswerRules, ReadHead } from './read-head.ts';
import type { ReadCall } from './upstream-read.ts';

/** How long the client of a read that was ended may take to fetch what lies ready for it. */
const LAST_BYTES_MS = 30_000;
/** A body up to this goes out in one piece with its head: to copy it costs less than a second piece. */
const MAX_JOINED_BODY_BYTES = 16_384;

/** What a reader's answer comes from. */
export interface ReadSource {
  /** The reader is gone, or has all that it gets. */
  leave(reader: Reader): void;
  /** The client has to be waited for. */
  onBehind(reader: Reader): void;
  /** The client has taken what was written so far. */
  onDrained(reader: Reader): void;
}

/**
 * One client's read, from its admission to the end of its answer. Several may share what comes from the
 * upstream; each has its own client, deadlines and headers.
 */
export class Reader implements BagItem {
  /** Where its source has it. */
  bagIndex: number | undefined;
  readonly call: ReadCall;
  /** Resolves when the head is written; rejects with the error to answer instead, or `ClientGone`. */
  readonly answerBegan: Promise<void>;
  source: ReadSource | undefined;
  /** What has been written waits for the client to take it. */
  isBehind = false;
  /** Its event stream is to end at the next safe place. */
  isEnding = false;
  private readonly response: ServerResponse;
  private readonly rules: AnswerRules;
  private stage: 'waiting' | 'answering' | 'over' = 'waiting';
  private resolve!: () => void;
  private reject!: (error: Error) => void;
  private head: ReadHead | undefined;
  private isHeadSent = false;
  /** The body has ended before any of the answer was sent. */
  private isWhole = false;
  /** The body's first piece, held until it is known whether it is the only one. */
  private firstChunk: Buffer | undefined;
  private boundary: SseBoundary | undefined;
  private timer: NodeJS.Timeout | undefined;
  private timeout: Deadline | undefined;
  private expiry: Deadline | undefined;

  constructor(call: ReadCall, response: ServerResponse, rules: AnswerRules) {
    this.call = call;
    this.response = response;
    this.rules = rules;
    this.answerBegan = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    response.on('close', () => this.onClose());
  }

  /** What is called off: when the wait for the answer is over, and when the whole read is. */
  setDeadlines(timeout: Deadline, expiry: Deadline | undefined): void {
    this.timeout = timeout;
    this.expiry = expiry;
  }

  /** Whether the answer is still to begin. */
  get isWaiting(): boolean {
    return this.stage === 'waiting';
  }

  /** How much was written that the client has not taken yet, in bytes. */
  get bytesBehind(): number {
    return this.response.writableLength;
  }

  /**
   * Begins the answer. Its head goes out when this turn of the event loop ends, with what of the body
   * is there by then. `boundary` tells where an event stream may end.
   */
  begin(head: ReadHead, boundary?: SseBoundary): void {
    this.startAnswer(head);
    this.boundary = boundary;
    answersToSend.add(this);
  }

  /** Passes a piece of the body on. */
  write(chunk: Buffer): void {
    if (!this.isHeadSent && !this.firstChunk) {
      this.firstChunk = chunk;
      return;
    }
    this.flush();
    if (this.isHeadSent) this.pass(chunk);
  }

  /** Ends an answer that is whole. */
  end(): void {
    if (this.isHeadSent) this.response.end();
    else this.isWhole = true;
    this.finish();
  }

  /** Sends an answer of which everything is there; a body that is a string is latin1. */
  answer(head: ReadHead, body: Buffer | string | undefined): void {
    this.startAnswer(head);
    this.sendWhole(body);
    this.finish();
  }

  /** The upstream gave no answer, or broke it off: the client hears an error, or sees it broken. */
  fail(error: Error): void {
    if (this.stage === 'waiting') {
      this.refuse(error);
    } else if (this.stage === 'answering') {
      this.flush();
      this.finish();
      if (this.isHeadSent) breakOff(this.response);
    }
  }

  /**
   * Ends the read from outside: with the error if its answer has not begun. An event stream ends where
   * its reader can resume, or is broken off if that place does not come; any other body under way is
   * finite, and is left to finish.
   */
  endEarly(error: Error): void {
    if (this.stage === 'waiting') this.fail(error);
    else if (this.stage === 'answering' && !this.isEnding && this.head?.isEventStream) {
      this.isEnding = true;
      if (!this.boundary) this.fail(error);
      else if (this.boundary.isSafe) this.endHere();
      else this.breakOffIn(STALLED_EVENT_MS);
    }
  }

  /** Ends an event stream behind what was written, although its source may go on. */
  endHere(): void {
    this.flush();
    if (!this.isHeadSent) return;
    this.response.end();
    this.finish();
    this.breakOffIn(LAST_BYTES_MS);
  }

  /** Sends what is held back. */
  flush(): void {
    if (this.isHeadSent) return;
    if (this.response.destroyed) {
      this.reject(new ClientGone());
      return;
    }
    const chunk = this.firstChunk;
    this.firstChunk = undefined;
    if (this.isWhole) {
      this.sendWhole(chunk && joinedWithHead(chunk));
      return;
    }
    if (!this.sendHead()) return;
    if (chunk) this.pass(chunk);
    else flushAnswerHead(this.response);
  }

  private startAnswer(head: ReadHead): void {
    this.stage = 'answering';
    this.head = head;
    this.call.context.answeredAtMs ??= performance.now();
    this.timeout?.callOff();
  }

  /** `bodyLength` is that of a body that is all there. False where the head cannot be sent. */
  private sendHead(bodyLength?: number): boolean {
    const { head } = this;
    if (!head) return false;
    try {
      writeAnswerHead(this.response, this.call.context, {
        status: head.statusCode,
        headers: head.headersFor(this.rules),
        isEventStream: head.isEventStream,
        contentLength: head.contentLength === undefined ? bodyLength : undefined,
      });
    } catch (error) {
      this.refuse(error as Error);
      return false;
    }
    this.isHeadSent = true;
    this.resolve();
    return true;
  }

  private sendWhole(body: Buffer | string | undefined): void {
    if (!this.sendHead(body?.length)) return;
    if (body === undefined) this.response.end();
    else this.response.end(body, 'latin1');
  }

  private pass(chunk: Buffer): void {
    if (this.response.write(chunk) || this.isBehind) return;
    this.isBehind = true;
    this.response.once('drain', () => {
      this.isBehind = false;
      this.source?.onDrained(this);
    });
    this.source?.onBehind(this);
  }

  private breakOffIn(timeoutMs: number): void {
    if (this.response.closed) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.finish();
      breakOff(this.response);
    }, timeoutMs);
  }

  private onClose(): void {
    clearTimeout(this.timer);
    const wasWaiting = this.stage === 'waiting';
    this.finish();
    if (wasWaiting) this.reject(new ClientGone());
  }

  /** Has the error answered in place of what came from the upstream. */
  private refuse(error: Error): void {
    this.finish();
    this.reject(error);
  }

  private finish(): void {
    if (this.stage === 'over') return;
    if (this.stage === 'waiting') this.timeout?.callOff();
    this.stage = 'over';
    clearTimeout(this.timer);
    this.expiry?.callOff();
    this.source?.leave(this);
    this.source = undefined;
  }
}

/** A body as it is best sent behind its head in one go: Node joins strings, and not buffers. */
export function joinedWithHead(body: Buffer): Buffer | string {
  return body.length <= MAX_JOINED_BODY_BYTES ? body.toString('latin1') : body;
}

/** Answers that have begun in this turn of the event loop. */
const answersToSend = new TurnQueue<Reader>((reader) => reader.flush());
