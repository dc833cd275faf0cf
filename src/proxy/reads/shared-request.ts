import { UnorderedList } from '../../collections/unordered-list.ts';
import type { GatewayError } from '../../errors/gateway-error.ts';
import type { HeldBytes } from '../../memory/held-bytes.ts';
import type { ReadShare } from '../../telemetry/shared-reads.ts';
import type { EventStream } from './event-stream.ts';
import { PieceQueue } from './piece-queue.ts';
import type { ReadHead } from './read-head.ts';
import { dependsOnReader } from './read-key.ts';
import { joinedWithHead, type BodySource, type Reader } from './reader.ts';
import type { ReadSender } from './read-sender.ts';
import { MAX_SHARED_BODY_BYTES, SharedBody } from './shared-body.ts';
import type { ReadCall, ReadObserver, UpstreamRead } from './upstream-read.ts';

/** With this many bytes waiting for its client, the upstream's response is paused. */
const MAX_WAITING_BYTES = 65_536;

/** What the owner of every request needs. */
export interface SharedRequestParts {
  sender: ReadSender;
  held: HeldBytes;
  /** Sends a request for this reader and no other. */
  sendAlone(reader: Reader): void;
  /**
   * Called when it is decided which upstream request answers a reader, and again if that changes. `first` is the
   * request of another reader that it joined.
   */
  setShare(reader: Reader, share: ReadShare, first?: ReadCall): void;
}

/** The listener of a request's progress. */
export interface SharedRequestOwner {
  /** No reader may join any more: the response has begun, or no reader waits for it. */
  onClosed(request: SharedRequest): void;
  /** No reader waits for this request any more: it has ended, or continues at the pace of its one reader. */
  onReleased(request: SharedRequest): void;
  /**
   * The response is an event stream. Makes the object that receives it from here on, for several readers or for
   * one.
   */
  toEventStream(read: UpstreamRead, head: ReadHead, isForOne: boolean): EventStream;
  /** The response cannot be shared, so this reader needs a request of its own. */
  sendAlone(reader: Reader): void;
}

/**
 * One upstream request and the readers that wait for its response. A single reader gets the response directly, at
 * its own pace. For several readers it is collected, up to a limit.
 */
export class SharedRequest implements ReadObserver, BodySource {
  private readonly owner: SharedRequestOwner;
  private readonly held: HeldBytes;
  private readonly readers = new UnorderedList<Reader>();
  private read!: UpstreamRead;
  private head: ReadHead | undefined;
  /** The reader whose request was sent to the upstream. */
  private sentFor: Reader | undefined;
  /** The single reader that gets the response directly, and the pieces that wait for its client. */
  private sole: Reader | undefined;
  private queue: PieceQueue | undefined;
  /** The body that is collected for several readers. */
  private shared: SharedBody | undefined;
  private bodyBytes = 0;
  private hasEnded = false;
  /** The upstream broke off: no more bytes will come, and the body is not complete. */
  private hasFailed = false;
  private isClosed = false;
  private isReleased = false;

  constructor(owner: SharedRequestOwner, held: HeldBytes) {
    this.owner = owner;
    this.held = held;
  }

  /** Sends the request of the first reader that has joined. */
  launch(sender: ReadSender): void {
    const { first } = this.readers;
    if (!first) return;
    this.sentFor = first;
    this.read = sender.prepare(first.call, this);
    this.read.start();
  }

  /** Adds a reader. Call it only before the response has begun. */
  join(reader: Reader): void {
    reader.source = this;
    this.readers.add(reader);
  }

  onHead(head: ReadHead): void {
    this.head = head;
    const isForOne = dependsOnReader(head.header('vary'));
    if (isForOne) this.sendOthersAlone();
    const { first } = this.readers;
    if (!first) return;
    if (head.isEventStream) {
      this.becomeEventStream(this.owner.toEventStream(this.read, head, isForOne));
      return;
    }
    this.close();
    if (this.readers.size === 1) this.passTo(first, head);
    else if ((head.contentLength ?? 0) > MAX_SHARED_BODY_BYTES) this.split(head);
    else this.collect(() => (this.shared = new SharedBody(this.held, head.contentLength)));
  }

  onChunk(chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    const isLarge = this.bodyBytes > MAX_SHARED_BODY_BYTES;
    if (this.sole) {
      this.passOn(chunk);
      if (isLarge) this.release();
      return;
    }
    this.collect(() => this.shared?.add(chunk));
    if (isLarge && this.head) this.split(this.head);
  }

  onEnd(): void {
    this.close();
    this.hasEnded = true;
    if (this.sole) this.sole.wake();
    else if (this.head) this.answerAll(this.head);
    this.release();
  }

  onFailure(error: GatewayError): void {
    this.close();
    this.hasEnded = true;
    this.hasFailed = true;
    this.failAll(error);
    this.release();
  }

  next(reader: Reader): Buffer | undefined {
    const piece = this.queue?.next();
    if (piece) this.held.addSlow(reader);
    return piece;
  }

  isWhole(): boolean {
    return this.hasEnded && !this.hasFailed && (this.queue?.isEmpty ?? true);
  }

  onTaken(reader: Reader, bytes: number): void {
    this.held.deleteSlow(reader);
    if (reader.isSending) this.held.addSlow(reader);
    this.queue?.taken(bytes);
    if (!this.hasEnded && (this.queue?.bytes ?? 0) < MAX_WAITING_BYTES) this.read.resume();
  }

  endSoon(): void {
    // Its response is finite and may finish.
  }

  leave(reader: Reader): void {
    this.readers.delete(reader);
    if (reader === this.sole) {
      this.held.deleteSlow(reader);
      this.queue?.clear();
    }
    this.endIfLeft();
  }

  private passTo(reader: Reader, head: ReadHead): void {
    this.sole = reader;
    this.queue = new PieceQueue(this.held);
    reader.begin(head, this);
  }

  private passOn(chunk: Buffer): void {
    const { sole, queue } = this;
    if (sole?.isReady && queue?.isEmpty) {
      queue.pass(chunk);
      this.held.addSlow(sole);
      sole.write(chunk);
    } else {
      queue?.add(chunk);
      sole?.wake();
    }
    if ((queue?.bytes ?? 0) < MAX_WAITING_BYTES) return;
    this.read.pause();
    // A slow client must not delay the readers that wait for their turn.
    this.release();
  }

  /** Reserves room in the budget for each of the readers, or refuses them. */
  private collect(take: () => void): void {
    try {
      take();
    } catch (error) {
      this.failAll(error as GatewayError);
    }
  }

  private failAll(error: GatewayError): void {
    for (const reader of this.readers.snapshot()) reader.fail(error);
  }

  /** The first reader keeps this response, and every other reader sends a request of its own. */
  private split(head: ReadHead): void {
    const { first } = this.readers;
    const collected = this.shared?.whole();
    this.shared?.release();
    this.shared = undefined;
    this.sendOthersAlone(first);
    if (first) this.passTo(first, head);
    if (collected) this.passOn(collected);
    this.release();
  }

  /**
   * All readers except one send a request of their own. The exception is the reader whose headers the request had,
   * if it is still there.
   */
  private sendOthersAlone(stays = this.sentFor): void {
    for (const reader of this.readers.snapshot()) {
      if (reader === stays) continue;
      this.readers.delete(reader);
      this.owner.sendAlone(reader);
    }
    this.endIfLeft();
  }

  private answerAll(head: ReadHead): void {
    const { shared } = this;
    if (!shared) return;
    this.shared = undefined;
    const whole = shared.whole();
    const body = whole && joinedWithHead(whole);
    const readers = this.readers.snapshot();
    shared.giveTo(readers.length);
    for (const reader of readers) reader.answer(head, body, shared);
  }

  private becomeEventStream(stream: EventStream): void {
    this.read.observer = stream;
    for (const reader of this.readers.takeAll()) stream.join(reader);
    this.release();
  }

  private endIfLeft(): void {
    if (this.readers.size > 0) return;
    this.close();
    this.shared?.release();
    this.shared = undefined;
    if (!this.hasEnded) this.read.cancel();
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
