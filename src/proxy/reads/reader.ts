import { TurnQueue } from '../../platform/collections/turn-queue.ts';
import { overloaded } from '../../platform/errors/gateway-error.ts';
import type { OpenRead } from '../../platform/server/request-context.ts';
import type { ClientAnswer } from './client-answer.ts';
import type { ReadHead } from '../headers/read-head.ts';
import type { AnswerCall, AnswerReader, SharedAnswer } from './shared-answer.ts';

/** Hears of readers. */
export interface ReaderCounts<Call extends AnswerCall> {
  /** A reader gets a response, or will get none. */
  answered(call: Call): void;
  /** A reader gives its place among the open reads back. */
  left(call: Call): void;
}

/**
 * One client's read, from its admission to the last byte that its client takes: a place in the log of a `SharedAnswer`, which
 * it may share with others, and a client, a deadline and headers of its own.
 *
 * It writes a few pieces at most, and further ones when the kernel has taken those. What waits meanwhile waits in the log: in
 * the response of a stopped client, each piece of 50 bytes would take several objects.
 */
export class Reader<Call extends AnswerCall = AnswerCall> implements AnswerReader, OpenRead {
  listIndex: number | undefined;
  readonly call: Call;
  writtenTo = 0;
  takenTo = 0;
  private answer: SharedAnswer | undefined;
  private head: ReadHead | undefined;
  private stage: 'waiting' | 'answering' | 'ended' | 'over' = 'waiting';
  private readonly client: ClientAnswer;
  private readonly counts: ReaderCounts<Call>;
  private readonly onRefused: (error: Error) => void;

  /**
   * The reader has a place among the open reads, which `onClosed` gives back. `onRefused` answers with an error if the
   * response has not begun. It is no promise, which would take 450 bytes for each parked read.
   */
  constructor(
    call: Call,
    client: ClientAnswer,
    counts: ReaderCounts<Call>,
    onRefused: (error: Error) => void,
  ) {
    this.call = call;
    this.client = client;
    this.counts = counts;
    this.onRefused = onRefused;
  }

  get isSending(): boolean {
    return this.client.isSending || this.stage === 'ended';
  }

  get isFull(): boolean {
    return this.client.isFull || this.stage === 'ended';
  }

  /** Joins an answer. It may have begun. */
  join(answer: SharedAnswer): void {
    this.answer = answer;
    answer.join(this);
  }

  /**
   * Begins the response. The head is sent when this turn of the event loop ends, together with the part of the body
   * that has arrived by then.
   */
  begin(head: ReadHead): void {
    this.stage = 'answering';
    this.head = head;
    this.call.context.answeredAtMs ??= performance.now();
    this.counts.answered(this.call);
    answersToSend.add(this);
  }

  goOnWith(rest: SharedAnswer): void {
    const { isSending } = this;
    this.answer?.leave(this, isSending);
    this.takenTo -= this.writtenTo;
    this.writtenTo = 0;
    this.join(rest);
    if (isSending) rest.onSending();
    this.wake();
  }

  /** Sends the head together with the part of the body that has arrived. */
  open(): void {
    const { answer, client } = this;
    if (this.stage !== 'answering' || !answer || client.isHeadSent || client.isDestroyed) return;
    const text = answer.wholeText;
    if (!this.sendHead(answer.wholeLength)) return;
    if (text !== undefined) this.end(text === '' ? undefined : text);
    else if (!this.wake()) client.flushHead();
  }

  /** Writes what the log has for it. Returns whether there was anything to write. */
  wake(): boolean {
    const { answer, client } = this;
    let hasWritten = false;
    while (answer && this.stage === 'answering' && client.isHeadSent && !client.isFull) {
      const piece = answer.next(this);
      const isWhole = answer.isWhole(this);
      if (isWhole) this.end(piece);
      else if (piece === undefined) break;
      else this.write(answer, piece);
      hasWritten = true;
    }
    return hasWritten;
  }

  /** The upstream sent no response or broke it off: the client gets an error, or its response breaks off too. */
  fail(error: Error): void {
    if (this.stage === 'waiting') this.refuse(error);
    else if (this.stage === 'answering') {
      this.open();
      this.finish();
      if (this.client.isHeadSent) this.client.breakOff();
    }
  }

  failBy(fault: unknown): void {
    this.answer?.failBy(fault);
  }

  /**
   * Ends the read from outside. If its response has not begun, the client gets the error. An event stream ends where its
   * reader can resume, or breaks off if that place does not come. Any other response may finish.
   */
  endEarly(error: Error): void {
    if (this.stage === 'waiting') this.fail(error);
    else if (this.stage === 'answering') this.answer?.endSoon(this, error);
  }

  dropIn(timeoutMs: number): void {
    this.client.dropIn(timeoutMs, () => this.finish());
  }

  shed(): void {
    if (this.stage !== 'over' && !this.client.isHeadSent) {
      this.call.context.errorReason = 'slow_reader';
      this.refuse(overloaded('slow_reader', 'This reader is too slow'));
      return;
    }
    this.finish();
    this.client.shed();
  }

  onClosed(): void {
    this.counts.left(this.call);
    this.finish();
  }

  /** `bodyLength` is the length of a complete body. Returns false if the head cannot be sent. */
  private sendHead(bodyLength: number | undefined): boolean {
    if (!this.head) return false;
    try {
      this.client.sendHead(this.head, bodyLength);
    } catch (error) {
      this.refuse(error as Error);
      return false;
    }
    return true;
  }

  private write(answer: SharedAnswer, piece: Buffer): void {
    if (!this.client.isSending) answer.onSending();
    this.client.write(piece, (bytes) => this.onTaken(bytes));
  }

  private onTaken(bytes: number): void {
    this.answer?.onTaken(this, bytes);
    this.wake();
  }

  /** Ends the response. If its client has not taken it all, the answer keeps it until the response is closed. */
  private end(lastPiece: Buffer | string | undefined): void {
    const wasSending = this.client.isSending;
    if (this.client.end(lastPiece)) {
      this.finish();
      return;
    }
    this.stage = 'ended';
    if (!wasSending) this.answer?.onSending();
  }

  /** Answers with the error instead of the upstream's response. */
  private refuse(error: Error): void {
    this.finish();
    // Many readers can fail at once, and an error of one answer must not keep the others from theirs.
    queueMicrotask(() => this.onRefused(error));
  }

  private finish(): void {
    if (this.stage === 'over') return;
    const wasSending = this.isSending;
    if (this.stage === 'waiting') this.counts.answered(this.call);
    this.stage = 'over';
    this.client.callOffDrop();
    const { answer } = this;
    this.answer = undefined;
    answer?.leave(this, wasSending);
  }
}

/** Responses that began in this turn of the event loop. */
const answersToSend = new TurnQueue<Reader>(
  (reader) => reader.open(),
  (reader, fault) => reader.failBy(fault),
);
