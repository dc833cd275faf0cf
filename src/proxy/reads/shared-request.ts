import { UnorderedList } from '../../platform/collections/unordered-list.ts';
import type { GatewayError } from '../../platform/errors/gateway-error.ts';
import type { HeldBytes } from '../../platform/memory/held-bytes.ts';
import type { ReadShare } from '../../platform/telemetry/read-share-metrics.ts';
import { EventStream } from './event-stream.ts';
import { PieceQueue } from './piece-queue.ts';
import type { ReadGroup } from './read-group.ts';
import type { ReadHead } from './read-head.ts';
import { dependsOnReader } from './read-key.ts';
import type { BodySource } from './body-source.ts';
import { joinedWithHead } from './joined-body.ts';
import type { Reader } from './reader.ts';
import type { ReadSharing } from './read-sharing.ts';
import { MAX_SHARED_BODY_BYTES, SharedBody } from './shared-body.ts';
import type { ReadObserver, UpstreamRead } from './upstream-read.ts';

/** With this many bytes waiting for its client, the upstream's response is paused. */
const MAX_WAITING_BYTES = 65_536;

/**
 * One upstream request and the readers that wait for its response. A single reader gets the response directly, at
 * its own pace. For several readers it is collected, up to a limit.
 */
export class SharedRequest implements ReadObserver, BodySource {
  private readonly sharing: ReadSharing;
  private readonly group: ReadGroup | undefined;
  private readonly held: HeldBytes;
  private readonly readers = new UnorderedList<Reader>();
  /** Undefined while its readers wait for it to be sent. */
  private read: UpstreamRead | undefined;
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

  /** `group` has the readers that may join it. Without a group it is for one reader. */
  constructor(sharing: ReadSharing, group?: ReadGroup) {
    this.sharing = sharing;
    this.held = sharing.held;
    this.group = group;
  }

  get hasReaders(): boolean {
    return this.readers.size > 0;
  }

  /** Sends the request of the first reader that has joined. `share` is what counts for that reader. */
  launch(share: ReadShare): void {
    const { first } = this.readers;
    if (!first) return;
    this.sentFor = first;
    for (const reader of this.readers) {
      if (reader === first) reader.setShare(share);
      else reader.setShare('joined', first.call);
    }
    this.read = this.sharing.sender.prepare(first.call, this);
    this.read.start();
  }

  /** Adds a reader. Call it only before the response has begun. */
  join(reader: Reader): void {
    reader.source = this;
    this.readers.add(reader);
    if (this.sentFor) reader.setShare('joined', this.sentFor.call);
  }

  onHead(head: ReadHead): void {
    this.head = head;
    const isForOne = dependsOnReader(head.header('vary'));
    if (isForOne) this.sendOthersAlone();
    const { first } = this.readers;
    if (!first) return;
    if (head.isEventStream) {
      if (isForOne) this.close();
      this.becomeEventStream(head);
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
    if (!this.hasEnded && (this.queue?.bytes ?? 0) < MAX_WAITING_BYTES) this.read?.resume();
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
    this.read?.pause();
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
      this.sharing.sendAlone(reader);
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

  /** From here on the event stream receives the response, and has the readers. */
  private becomeEventStream(head: ReadHead): void {
    const { read, group } = this;
    if (!read) return;
    const stream = new EventStream(read, head, this.held, group);
    if (!group?.offer(this, stream)) stream.stopReplay();
    read.observer = stream;
    for (const reader of this.readers.takeAll()) stream.add(reader);
    this.release();
  }

  private endIfLeft(): void {
    if (!this.read || this.readers.size > 0) return;
    this.close();
    this.shared?.release();
    this.shared = undefined;
    if (!this.hasEnded) this.read.cancel();
    this.release();
  }

  private close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.group?.close(this);
  }

  private release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.group?.release();
  }
}
