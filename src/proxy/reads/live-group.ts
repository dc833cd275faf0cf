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
 * The readers of one long-poll or event stream. They join while its answer has not begun, and an event
 * stream later too, as long as it can give them what was sent so far.
 */
export class LiveGroup implements SharedRequestOwner {
  private readonly parts: SharedRequestParts;
  private readonly mayBeJoined: boolean;
  private readonly onFull: () => void;
  private readonly first: ReadCall;
  private joinable: SharedRequest | EventStream;

  /** `onFull` is called once, when no further reader may join; undefined where none may from the beginning. */
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
    // Nobody waits for its turn.
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
