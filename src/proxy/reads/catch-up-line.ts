import { UnorderedList } from '../../collections/unordered-list.ts';
import { EventStream } from './event-stream.ts';
import {
  SharedRequest,
  type SharedRequestOwner,
  type SharedRequestParts,
} from './shared-request.ts';
import type { ReadHead } from './read-head.ts';
import type { Reader, ReadSource } from './reader.ts';
import type { UpstreamRead } from './upstream-read.ts';

/**
 * How long a reader waits for the requests that were sent before it came. Then one more goes out beside them. So the
 * requests in progress are two if the upstream answers within this time, and their number grows by one in this time if
 * it does not answer.
 */
export const MAX_WAIT_MS = 50;

/**
 * The readers of one catch-up read. Readers that arrive while a request is in progress wait, and share the next one.
 * So every request begins after its readers have arrived: a reader must find what was acknowledged before it came, which
 * a response in progress may lack.
 */
export class CatchUpLine implements SharedRequestOwner, ReadSource {
  private readonly parts: SharedRequestParts;
  private readonly onEmpty: () => void;
  /** Undefined until a reader must wait, which is rare. */
  private waiting: UnorderedList<Reader> | undefined;
  private requestsInProgress = 0;
  /** Set while readers wait: one timer for all of them. */
  private timer: NodeJS.Timeout | undefined;

  /** `onEmpty` is called when nothing is in progress and nobody waits. */
  constructor(parts: SharedRequestParts, onEmpty: () => void) {
    this.parts = parts;
    this.onEmpty = onEmpty;
  }

  /** Sends a read at once if none is in progress. Otherwise the read waits for the next request. */
  add(reader: Reader): void {
    if (this.requestsInProgress === 0) {
      this.launch([reader]);
      return;
    }
    this.waiting ??= new UnorderedList();
    this.waiting.add(reader);
    reader.source = this;
    this.timer ??= setTimeout(() => this.launchWaiting(), MAX_WAIT_MS);
  }

  leave(reader: Reader): void {
    this.waiting?.delete(reader);
  }

  onClosed(): void {
    // No reader joins a request that has begun.
  }

  onReleased(): void {
    this.requestsInProgress--;
    if (this.requestsInProgress > 0) return;
    this.launchWaiting();
    if (this.requestsInProgress === 0) this.onEmpty();
  }

  toEventStream(read: UpstreamRead, head: ReadHead): EventStream {
    const stream = new EventStream(read, head, this.parts.held, () => undefined);
    stream.stopReplay();
    return stream;
  }

  sendAlone(reader: Reader): void {
    this.parts.sendAlone(reader);
  }

  private launchWaiting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting && this.waiting.size > 0) this.launch(this.waiting.takeAll());
  }

  private launch(readers: readonly Reader[]): void {
    const request = new SharedRequest(this, this.parts.held);
    this.requestsInProgress++;
    const [first] = readers;
    for (const reader of readers) {
      if (reader === first) this.parts.setShare(reader, 'first');
      else this.parts.setShare(reader, 'joined', first?.call);
      request.join(reader);
    }
    request.launch(this.parts.sender);
  }
}
