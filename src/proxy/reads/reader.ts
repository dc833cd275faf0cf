import type { UnorderedListItem } from '../../platform/collections/unordered-list.ts';
import { TurnQueue } from '../../platform/collections/turn-queue.ts';
import type { SlowClient } from '../../platform/memory/held-bytes.ts';
import { overloaded } from '../../platform/errors/gateway-error.ts';
import type { OpenRead } from '../../platform/server/request-context.ts';
import type { BodySource, ReaderPlace } from './body-source.ts';
import { joinedWithHead, type ClientAnswer } from './client-answer.ts';
import type { Deadline } from './deadlines.ts';
import type { ReadHead } from './read-head.ts';
import type { ReadService } from './read.service.ts';
import type { SharedBody } from './shared-body.ts';
import type { ReadCall } from './read-call.ts';

/** How long the client of an ended read may take to receive the last bytes. */
const LAST_BYTES_MS = 30_000;

/**
 * One client's read, from its admission to the end of its answer. Several may share what comes from the
 * upstream; each has its own client, deadlines and headers.
 *
 * It writes a few pieces at most, and further ones when the kernel has taken those. What waits meanwhile waits at the source,
 * which several readers may share: in the response of a stopped client, each piece of 50 bytes would take several objects.
 */
export class Reader implements UnorderedListItem, SlowClient, OpenRead {
  timedPlace: SlowClient['timedPlace'];
  listIndex: number | undefined;
  readonly call: ReadCall;
  /** What it must tell when it leaves. */
  place: ReaderPlace | undefined;
  private timeout: Deadline<Reader> | undefined;
  expiry: Deadline<Reader> | undefined;
  /** Positions in an event stream: after what was written, and after what the kernel has accepted. */
  writtenTo = 0;
  takenTo = 0;
  private source: BodySource | undefined;
  private readonly clientAnswer: ClientAnswer;
  private readonly service: Pick<ReadService, 'counts' | 'limits' | 'startTimeout'>;
  private readonly onRefused: (error: Error) => void;
  private stage: 'waiting' | 'answering' | 'over' = 'waiting';
  /** Whether its event stream must end at the next safe place. */
  private isEnding = false;
  private head: ReadHead | undefined;

  /**
   * The reader has a place among the open reads, which `onClosed` gives back. `onRefused` answers with an error if the
   * response has not begun. It is no promise, which would take 450 bytes for each parked read.
   */
  constructor(
    call: ReadCall,
    clientAnswer: ClientAnswer,
    service: Reader['service'],
    onRefused: (error: Error) => void,
  ) {
    this.call = call;
    this.clientAnswer = clientAnswer;
    this.service = service;
    this.onRefused = onRefused;
  }

  /** It waits for a request: its first one, or another one after a response that was not for it. */
  awaitHead(): void {
    this.timeout?.callOff();
    this.timeout = this.service.startTimeout(this);
  }

  /** The upstream's headers have arrived. The body has no time limit, even while it is collected for several readers. */
  onHead(): void {
    this.timeout?.callOff();
  }

  /** Whether it has written bytes that the kernel has not accepted yet. */
  get isSending(): boolean {
    return this.clientAnswer.isSending;
  }

  /** Whether so many bytes are in flight that it must not write more for now. */
  get isFull(): boolean {
    return this.clientAnswer.isFull;
  }

  /** Whether it may write a piece at once. */
  get isReady(): boolean {
    return this.clientAnswer.isHeadSent && this.stage === 'answering' && !this.isFull;
  }

  /**
   * Begins the response. The head is sent when this turn of the event loop ends, together with the part of the body
   * that has arrived by then.
   */
  begin(head: ReadHead, source: BodySource): void {
    this.startAnswer(head);
    this.place = this.source = source;
    answersToSend.add(this);
  }

  /** Writes what the source has. Called when the source has more or has ended, or the client has read some. */
  wake(): void {
    while (this.isReady) {
      const piece = this.source?.next(this);
      if (this.source?.isWhole(this)) this.end(piece);
      else if (piece === undefined) return;
      else this.write(piece);
    }
  }

  /** Sends a complete response of `shared`. A string body is latin1. */
  answer(head: ReadHead, body: Buffer | string | undefined, shared: SharedBody): void {
    this.clientAnswer.shared = shared;
    this.startAnswer(head);
    this.sendWhole(body);
  }

  /** The upstream sent no response or broke it off: the client gets an error, or its response breaks off too. */
  fail(error: Error): void {
    if (this.stage === 'waiting') {
      this.refuse(error);
    } else if (this.stage === 'answering') {
      this.open();
      this.finish();
      if (this.clientAnswer.isHeadSent) this.clientAnswer.breakOff();
    }
  }

  /**
   * Ends the read from outside. If its response has not begun, the client gets the error. An event stream ends where its
   * reader can resume, or breaks off if that place does not come. Any other response may finish.
   */
  endEarly(error: Error): void {
    if (this.stage === 'waiting') this.fail(error);
    else if (this.stage === 'answering' && !this.isEnding && this.head?.isEventStream) {
      this.isEnding = true;
      this.source?.endSoon(this, error);
    }
  }

  /** Ends its event stream with these bytes, although its source may continue. */
  endWith(tail: Buffer | undefined): void {
    if (!this.clientAnswer.isHeadSent && !this.sendHead()) return;
    this.end(tail);
    this.dropIn(LAST_BYTES_MS);
  }

  /** Drops its client unless the response has ended by then. */
  dropIn(timeoutMs: number): void {
    this.clientAnswer.dropIn(timeoutMs, () => this.finish());
  }

  /** Its client is too slow, and other clients need the memory that is held for it. */
  shed(): void {
    if (this.stage !== 'over' && !this.clientAnswer.isHeadSent) {
      this.call.context.errorReason = 'slow_reader';
      this.refuse(overloaded('slow_reader', 'This reader is too slow'));
      return;
    }
    this.finish();
    this.clientAnswer.shed();
  }

  /** Sends the head together with the part of the body that has arrived. */
  open(): void {
    const { source } = this;
    if (this.clientAnswer.isHeadSent || this.stage !== 'answering' || !source) return;
    if (this.clientAnswer.isDestroyed) return;
    const piece = source.next(this);
    if (source.isWhole(this)) {
      this.sendWhole(typeof piece === 'object' ? joinedWithHead(piece) : piece);
      return;
    }
    if (!this.sendHead()) return;
    if (piece === undefined) this.clientAnswer.flushHead();
    else this.write(piece);
  }

  private startAnswer(head: ReadHead): void {
    this.stage = 'answering';
    this.head = head;
    this.call.context.answeredAtMs ??= performance.now();
    this.onWaited();
  }

  /**
   * Its response begins, or it will get none. The read is counted only now, because a reader that joined others gets a
   * request of its own if it cannot share their response.
   */
  private onWaited(): void {
    this.timeout?.callOff();
    const { share, context } = this.call;
    if (share) this.service.counts.count(context.live, share);
  }

  /** `bodyLength` is the length of a complete body. Returns false if the head cannot be sent. */
  private sendHead(bodyLength?: number): boolean {
    if (!this.head) return false;
    try {
      this.clientAnswer.sendHead(this.head, bodyLength);
    } catch (error) {
      this.refuse(error as Error);
      return false;
    }
    return true;
  }

  private sendWhole(body: Buffer | string | undefined): void {
    if (this.sendHead(body?.length)) this.end(body);
  }

  /** Writes a piece. Call it only if `isReady`. */
  write(piece: Buffer | string): void {
    this.clientAnswer.write(piece, (bytes) => this.onTaken(bytes));
  }

  private onTaken(bytes: number): void {
    if (this.stage !== 'answering') return;
    this.source?.onTaken(this, bytes);
    this.wake();
  }

  /** Ends the response. Nothing is written after it, because `finish` releases the source. */
  private end(lastPiece: Buffer | string | undefined): void {
    this.clientAnswer.end(lastPiece);
    this.finish();
  }

  onClosed(): void {
    this.service.limits.leave(this.call.credentialId);
    this.clientAnswer.onClosed();
    this.finish();
  }

  /** Answers with the error instead of the upstream's response. */
  private refuse(error: Error): void {
    this.finish();
    // Many readers can fail at once, and an error of one answer must not keep the others from theirs.
    queueMicrotask(() => this.onRefused(error));
  }

  private finish(): void {
    if (this.stage === 'over') return;
    if (this.stage === 'waiting') this.onWaited();
    this.stage = 'over';
    this.clientAnswer.callOffDrop();
    this.expiry?.callOff();
    const { place } = this;
    this.place = this.source = undefined;
    place?.leave(this);
  }
}

/** Responses that began in this turn of the event loop. */
const answersToSend = new TurnQueue<Reader>((reader) => reader.open());
