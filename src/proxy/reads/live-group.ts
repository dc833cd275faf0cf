import { EventStream } from './event-stream.ts';
import {
  SharedRequest,
  type SharedRequestOwner,
  type SharedRequestParts,
} from './shared-request.ts';
import type { ReadHead } from './read-head.ts';
import type { Reader } from './reader.ts';
import type { ReadCall, UpstreamRead } from './upstream-read.ts';

/**
 * The readers of one long-poll or event stream. They may join until its response begins. An event stream accepts
 * readers later too, as long as it still has everything from the beginning.
 */
export class LiveGroup implements SharedRequestOwner {
  private readonly parts: SharedRequestParts;
  private readonly mayBeJoined: boolean;
  private readonly onFull: () => void;
  private readonly first: ReadCall;
  private joinable: SharedRequest | EventStream;

  /**
   * `onFull` is called once, when no further reader may join. It is undefined if none may join from the beginning.
   */
  constructor(first: Reader, parts: SharedRequestParts, onFull?: () => void) {
    this.parts = parts;
    this.mayBeJoined = onFull !== undefined;
    this.onFull = onFull ?? (() => undefined);
    this.first = first.call;
    this.joinable = new SharedRequest(this, parts.held);
    this.joinable.join(first);
  }

  launch(): void {
    if (this.joinable instanceof SharedRequest) this.joinable.launch(this.parts.sender);
  }

  join(reader: Reader): void {
    this.parts.setShare(reader, 'joined', this.first);
    this.joinable.join(reader);
  }

  onClosed(): void {
    this.onFull();
  }

  onReleased(): void {
    // Live reads have no queue of waiting readers.
  }

  toEventStream(read: UpstreamRead, head: ReadHead, isForOne: boolean): EventStream {
    const stream = new EventStream(read, head, this.parts.held, this.onFull);
    if (isForOne || !this.mayBeJoined) stream.stopReplay();
    this.joinable = stream;
    return stream;
  }

  sendAlone(reader: Reader): void {
    this.parts.sendAlone(reader);
  }
}
