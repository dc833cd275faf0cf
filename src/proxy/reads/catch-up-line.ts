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
 * How long readers wait for a response that was requested before they came. Then the gateway sends another request.
 */
const MAX_WAIT_MS = 2_000;

/**
 * The readers of one catch-up read. One request is in progress at a time. Readers that arrive during it wait, and
 * share the next one. So every request begins after its readers have arrived: a reader must find what was
 * acknowledged before it came, which a response in progress may lack.
 */
export class CatchUpLine implements SharedRequestOwner, ReadSource {
  private readonly parts: SharedRequestParts;
  private readonly onEmpty: () => void;
  /** Undefined until a reader must wait, which is rare. */
  private waiting: UnorderedList<Reader> | undefined;
  private current: SharedRequest | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** `onEmpty` is called when nothing is in flight and nobody waits. */
  constructor(parts: SharedRequestParts, onEmpty: () => void) {
    this.parts = parts;
    this.onEmpty = onEmpty;
  }

  /** Sends a read at once if none is in flight. Otherwise the read waits for the next request. */
  add(reader: Reader): void {
    if (!this.current) {
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

  onReleased(request: SharedRequest): void {
    if (request !== this.current) return;
    if (this.waiting && this.waiting.size > 0) {
      this.launchWaiting();
      return;
    }
    this.current = undefined;
    clearTimeout(this.timer);
    this.onEmpty();
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
    if (!this.waiting || this.waiting.size === 0) return;
    this.launch(this.waiting.takeAll());
  }

  private launch(readers: readonly Reader[]): void {
    const request = new SharedRequest(this, this.parts.held);
    this.current = request;
    const [first] = readers;
    for (const reader of readers) {
      if (reader === first) this.parts.setShare(reader, 'first');
      else this.parts.setShare(reader, 'joined', first?.call);
      request.join(reader);
    }
    request.launch(this.parts.sender);
  }
}
