import type { EventStream } from './event-stream.ts';
import type { Reader } from './reader.ts';
import type { ReadSharing } from './read-sharing.ts';
import { SharedRequest } from './shared-request.ts';

/**
 * How long the readers of a catch-up read wait for the requests that were sent before they came. Then one more goes out
 * beside them. So the requests in progress are two if the upstream answers within this time, and their number grows by
 * one in this time if it does not answer.
 */
export const MAX_WAIT_MS = 50;

/**
 * The readers of equal reads. They differ in when a request is sent, and until when further readers may join it:
 *
 * - A live read is sent at once. Readers join until its response begins, and join an event stream as long as it still
 *   has everything from its beginning.
 * - A catch-up read is sent once no other is in progress, or after `MAX_WAIT_MS`. Readers join until it is sent: a
 *   reader must find what was acknowledged before it came, which a response in progress may lack.
 */
export class ReadGroup {
  private readonly sharing: ReadSharing;
  private readonly key: string;
  private readonly isLive: boolean;
  /** What the next reader joins. */
  private joinable: SharedRequest | EventStream | undefined;
  private requestsInProgress = 0;
  /** Set while readers wait: one timer for all of them. */
  private timer: NodeJS.Timeout | undefined;

  constructor(sharing: ReadSharing, key: string, isLive: boolean) {
    this.sharing = sharing;
    this.key = key;
    this.isLive = isLive;
  }

  add(reader: Reader): void {
    if (this.joinable) {
      this.joinable.join(reader);
      return;
    }
    const request = new SharedRequest(this.sharing, this);
    request.join(reader);
    this.joinable = request;
    if (this.isLive || this.requestsInProgress === 0) this.launch(request);
    else this.timer ??= setTimeout(() => this.launchWaiting(), MAX_WAIT_MS);
  }

  /**
   * A request's response is an event stream. Returns whether later readers may join it. If so, the stream calls `close`
   * when they no longer may.
   */
  offer(request: SharedRequest, stream: EventStream): boolean {
    if (this.joinable !== request) return false;
    this.joinable = stream;
    return true;
  }

  /** No reader may join it any more: its response has begun, or no reader waits for it. */
  close(closed: SharedRequest | EventStream): void {
    if (this.joinable === closed) this.joinable = undefined;
    this.forgetIfIdle();
  }

  /** No reader waits for a request any more: it has ended, or continues at the pace of its one reader. */
  release(): void {
    this.requestsInProgress--;
    if (!this.isLive && this.requestsInProgress === 0) this.launchWaiting();
    this.forgetIfIdle();
  }

  private launchWaiting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const waiting = this.joinable;
    this.joinable = undefined;
    if (waiting instanceof SharedRequest && waiting.hasReaders) this.launch(waiting);
  }

  private launch(request: SharedRequest): void {
    if (!this.isLive) this.joinable = undefined;
    this.requestsInProgress++;
    request.launch('first');
  }

  private forgetIfIdle(): void {
    if (!this.joinable && this.requestsInProgress === 0) this.sharing.groups.delete(this.key);
  }
}
