import type { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { SharedAnswer, type AnswerOwner, type AnswerReader } from './shared-answer.ts';

/**
 * How long the readers of a catch-up read wait for the requests that were sent before they came. Then one more goes out
 * beside them. So the requests in progress are two if the upstream answers within this time, and their number grows by
 * one in this time if it does not answer.
 */
export const MAX_WAIT_MS = 50;

/**
 * The answers of equal reads. They differ in when a request is sent, and until when further readers may join it:
 *
 * - A live read is sent at once. Readers join until its response begins, and join an event stream as long as it still
 *   has everything from its beginning. They join none that is silent for longer than its protocol allows.
 * - A catch-up read is sent once no other is in progress, or after `MAX_WAIT_MS`. Readers join until it is sent: a
 *   reader must find what was acknowledged before it came, which a response in progress may lack.
 */
export class ReadGroup implements AnswerOwner {
  private readonly isLive: boolean;
  private readonly held: HeldBytes;
  private readonly onIdle: () => void;
  /** What the next reader joins. */
  private joinable: SharedAnswer | undefined;
  private requestsInProgress = 0;
  /** Set while readers wait: one timer for all of them. */
  private timer: NodeJS.Timeout | undefined;

  /** `onIdle` is called when nothing is in progress and nothing can be joined. */
  constructor(isLive: boolean, held: HeldBytes, onIdle: () => void) {
    this.isLive = isLive;
    this.held = held;
    this.onIdle = onIdle;
  }

  add(reader: AnswerReader): void {
    if (this.joinable && !this.joinable.isSilent) {
      reader.join(this.joinable);
      return;
    }
    const answer = (this.joinable = new SharedAnswer(this, this.held));
    reader.join(answer);
    if (this.isLive || this.requestsInProgress === 0) this.launch(answer);
    else this.timer ??= setTimeout(() => this.launchWaiting(), MAX_WAIT_MS);
  }

  closed(answer: SharedAnswer): void {
    if (this.joinable === answer) this.joinable = undefined;
    this.forgetIfIdle();
  }

  released(): void {
    this.requestsInProgress--;
    if (!this.isLive && this.requestsInProgress === 0) this.launchWaiting();
    this.forgetIfIdle();
  }

  private launchWaiting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const waiting = this.joinable;
    this.joinable = undefined;
    if (waiting?.hasReaders) this.launch(waiting);
  }

  private launch(answer: SharedAnswer): void {
    if (!this.isLive) this.joinable = undefined;
    this.requestsInProgress++;
    answer.launch('first');
  }

  private forgetIfIdle(): void {
    if (!this.joinable && this.requestsInProgress === 0) this.onIdle();
  }
}
