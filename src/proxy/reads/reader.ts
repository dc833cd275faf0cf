import { overloaded } from '../../platform/errors/gateway-error.ts';
import type { OpenRead } from '../../platform/server/request-context.ts';
import type { ClientAnswer } from './client-answer.ts';
import type { AnswerCall, AnswerReader, SharedAnswer } from './shared-answer.ts';

/**
 * One client's read, from its admission to the last byte that its client takes: a place in the log of a `SharedAnswer`, which
 * it may share with others, and a client, a deadline and headers of its own.
 *
 * It writes a few pieces at most, and further ones when the kernel has taken those. What waits meanwhile waits in the log: in
 * the response of a stopped client, each piece of 50 bytes would take several objects.
 */
export class Reader implements AnswerReader, OpenRead {
  listIndex: number | undefined;
  timedPlace: AnswerReader['timedPlace'];
  readonly call: AnswerCall;
  writtenTo = 0;
  takenTo = 0;
  private answer: SharedAnswer | undefined;
  private stage: 'open' | 'ended' | 'over' = 'open';
  /** The last bytes of a reader that has left its answer. */
  private restBytes = 0;
  private dropTimer: NodeJS.Timeout | undefined;
  private readonly client: ClientAnswer;
  private readonly onLeft: (call: AnswerCall) => void;
  private readonly onRefused: (error: Error) => void;

  /**
   * `onLeft` is called when its response is closed. `onRefused` answers with an error if the response has not begun. It is
   * no promise, which would take 450 bytes for each parked read.
   */
  constructor(
    call: AnswerCall,
    client: ClientAnswer,
    onLeft: (call: AnswerCall) => void,
    onRefused: (error: Error) => void,
  ) {
    this.call = call;
    this.client = client;
    this.onLeft = onLeft;
    this.onRefused = onRefused;
  }

  get isFull(): boolean {
    return this.client.isFull || this.stage === 'ended';
  }

  /** Joins an answer. It may have begun. */
  join(answer: SharedAnswer): void {
    this.answer = answer;
    answer.join(this);
  }

  /** Writes what the log has for it, the first of it with the head. */
  wake(): void {
    if (this.stage !== 'open') return;
    if (this.client.isHeadSent) this.writeOn();
    else this.open();
  }

  endWith(rest: Buffer): void {
    if (this.stage !== 'open' || (!this.client.isHeadSent && !this.sendHead())) return;
    this.answer?.leave(this);
    this.answer = undefined;
    this.restBytes = rest.length;
    this.client.held.hold('events', rest.length);
    this.end(rest.length > 0 ? rest : undefined);
  }

  /** The upstream sent no response or broke it off: the client gets an error, or its response breaks off too. */
  fail(error: Error): void {
    if (this.stage !== 'open') return;
    if (!this.client.isHeadSent) this.refuse(error);
    else {
      this.finish();
      this.client.breakOff();
    }
  }

  /**
   * Ends the read from outside. If its response has not begun, the client gets the error. An event stream ends where its
   * reader can resume, or breaks off if that place does not come. Any other response may finish.
   */
  endEarly(error: Error): void {
    if (this.stage !== 'open') return;
    if (this.answer?.hasBegun) this.answer.endSoon(this, error);
    else this.refuse(error);
  }

  dropIn(timeoutMs: number): void {
    if (this.stage === 'over') return;
    clearTimeout(this.dropTimer);
    this.dropTimer = setTimeout(() => this.drop(), timeoutMs);
  }

  shed(): void {
    const { answer, stage, client, call } = this;
    call.context.errorReason = 'slow_reader';
    if (stage === 'over' || client.isHeadSent) this.drop();
    else this.refuse(overloaded('slow_reader', 'This reader is too slow'));
    // What only this one needed is free at once, or another one would have to go as well.
    answer?.trim();
  }

  onClosed(): void {
    this.onLeft(this.call);
    this.finish();
  }

  /** Sends the head together with the part of the body that has arrived. */
  private open(): void {
    const { answer, client } = this;
    if (!this.sendHead()) return;
    const text = answer?.wholeText;
    if (text !== undefined) this.end(text === '' ? undefined : text);
    else if (!this.writeOn()) client.flushHead();
  }

  /** Returns false if the head cannot be sent. */
  private sendHead(): boolean {
    const { answer, client, call } = this;
    if (!answer?.head || client.isDestroyed) return false;
    call.context.answeredAtMs ??= performance.now();
    try {
      client.sendHead(answer.head, answer.wholeLength);
    } catch (error) {
      this.refuse(error as Error);
      return false;
    }
    return true;
  }

  /** Writes what the log has for it. Returns whether there was anything to write. */
  private writeOn(): boolean {
    const { answer, client } = this;
    let hasWritten = false;
    while (answer && this.stage === 'open' && !client.isFull) {
      const piece = answer.next(this);
      if (answer.isWhole(this)) this.end(piece);
      else if (piece === undefined) break;
      else this.write(answer, piece);
      hasWritten = true;
    }
    return hasWritten;
  }

  /** It is slow from now on, unless it reads events: then only if it cannot take the next one. */
  private write({ isEvents }: SharedAnswer, piece: Buffer): void {
    if (!isEvents) this.client.held.addSlow(this);
    this.client.write(piece, (bytes) => this.onTaken(bytes));
  }

  private onTaken(bytes: number): void {
    const { answer, client, stage } = this;
    this.takenTo += bytes;
    if (!client.isSending && stage === 'open') client.held.deleteSlow(this);
    answer?.onTaken(this);
    this.wake();
  }

  /** Ends the response. If its client has not taken it all, the answer keeps it until the response is closed. */
  private end(lastPiece: Buffer | string | undefined): void {
    if (this.client.end(lastPiece)) {
      this.finish();
      return;
    }
    this.stage = 'ended';
    this.client.held.addSlow(this);
  }

  private drop(): void {
    this.finish();
    this.client.drop();
  }

  /** Answers with the error instead of the upstream's response. */
  private refuse(error: Error): void {
    this.finish();
    // Many readers can fail at once, and an error of one answer must not keep the others from theirs.
    queueMicrotask(() => this.onRefused(error));
  }

  private finish(): void {
    if (this.stage === 'over') return;
    this.stage = 'over';
    const { answer, client, restBytes } = this;
    clearTimeout(this.dropTimer);
    client.held.deleteSlow(this);
    client.held.release('events', restBytes);
    this.answer = undefined;
    answer?.leave(this);
  }
}
