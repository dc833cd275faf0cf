import type { GatewayError } from '../../errors/gateway-error.ts';
import type { ReadShare } from '../../telemetry/shared-reads.ts';
import type { EventStream } from './event-stream.ts';
import type { ReadHead } from './read-head.ts';
import { joinedWithHead, type Reader, type ReadSource } from './reader.ts';
import type { ReadSender } from './read-sender.ts';
import type { ReadObserver, UpstreamRead } from './upstream-read.ts';

/** The largest answer that is collected for several readers; beyond it each sends its own request. */
export const MAX_SHARED_BODY_BYTES = 1_048_576;

/** What every flight's owner needs. */
export interface FlightParts {
  sender: ReadSender;
  /** Sends a request for this reader and no other. */
  sendAlone(reader: Reader): void;
  /** To be called once for each reader, when it is known which request answers it. */
  count(reader: Reader, share: ReadShare): void;
}

/** Who has to know how a flight goes. */
export interface FlightOwner {
  /** No reader may join any more: the answer has begun, or nobody waits for it. */
  onClosed(flight: Flight): void;
  /** The flight holds up nobody any more: it has ended, or goes on at the pace of its one reader. */
  onReleased(flight: Flight): void;
  /** The answer is an event stream: makes what takes it from here, for readers to join or not. */
  toEventStream(read: UpstreamRead, head: ReadHead): EventStream;
  /** The answer cannot be shared: this reader needs a request of its own. */
  sendAlone(reader: Reader): void;
}

/**
 * One request to an upstream and the readers that wait for its answer. With one reader the answer
 * passes straight through at that reader's pace; for several it is collected, up to a limit.
 */
export class Flight implements ReadObserver, ReadSource {
  private readonly owner: FlightOwner;
  private readonly readers = new Set<Reader>();
  private read!: UpstreamRead;
  private head: ReadHead | undefined;
  /** The one reader that the answer passes straight through to. */
  private sole: Reader | undefined;
  private chunks: Buffer[] = [];
  private bodyBytes = 0;
  private isClosed = false;
  private isReleased = false;

  constructor(owner: FlightOwner) {
    this.owner = owner;
  }

  /** Sends the request of the first reader that has joined. */
  launch(sender: ReadSender): void {
    const [first] = this.readers;
    if (!first) return;
    this.read = sender.prepare(first.call, this);
    this.read.start();
  }

  /** Takes a reader in; only before the answer has begun. */
  join(reader: Reader): void {
    reader.source = this;
    this.readers.add(reader);
  }

  onHead(head: ReadHead): void {
    this.head = head;
    if (head.isEventStream) {
      this.becomeEventStream(head);
      return;
    }
    this.close();
    const [first] = this.readers;
    if (this.readers.size === 1 && first) this.passTo(first);
    else if ((head.contentLength ?? 0) > MAX_SHARED_BODY_BYTES) this.split();
  }

  onChunk(chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    if (this.sole) this.sole.write(chunk);
    else this.chunks.push(chunk);
    if (this.bodyBytes <= MAX_SHARED_BODY_BYTES) return;
    if (this.sole) this.release();
    else this.split();
  }

  onEnd(): void {
    this.close();
    const { head, sole } = this;
    if (sole) sole.end();
    else if (head) this.answerAll(head);
    this.release();
  }

  onFailure(error: GatewayError): void {
    this.close();
    for (const reader of this.readers) {
      // Those for whom the answer was collected see it broken off as a single reader would.
      if (this.head && reader.isWaiting) this.passCollected(reader, this.head);
      reader.fail(error);
    }
    this.release();
  }

  leave(reader: Reader): void {
    this.readers.delete(reader);
    if (this.readers.size > 0) return;
    this.close();
    this.read.cancel();
    this.release();
  }

  onBehind(): void {
    this.read.pause();
    // A slow client must not hold up those that wait for their turn.
    this.release();
  }

  onDrained(): void {
    this.read.resume();
  }

  private passTo(reader: Reader): void {
    this.sole = reader;
    if (this.head) reader.begin(this.head);
  }

  /** The first reader goes on with this answer, and every other sends a request of its own. */
  private split(): void {
    const [first, ...others] = this.readers;
    for (const reader of others) {
      this.readers.delete(reader);
      this.owner.sendAlone(reader);
    }
    if (!first || !this.head) return;
    this.sole = first;
    this.passCollected(first, this.head);
    this.chunks = [];
    this.release();
  }

  private passCollected(reader: Reader, head: ReadHead): void {
    reader.begin(head);
    for (const chunk of this.chunks) reader.write(chunk);
  }

  private answerAll(head: ReadHead): void {
    const body = this.chunks.length > 0 ? joinedWithHead(Buffer.concat(this.chunks)) : undefined;
    for (const reader of this.readers) reader.answer(head, body);
  }

  private becomeEventStream(head: ReadHead): void {
    const stream = this.owner.toEventStream(this.read, head);
    this.read.observer = stream;
    for (const reader of this.readers) stream.join(reader);
    this.readers.clear();
    this.release();
  }

  private close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.owner.onClosed(this);
  }

  private release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.owner.onReleased(this);
  }
}
