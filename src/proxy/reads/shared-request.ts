import { UnorderedList } from '../../platform/collections/unordered-list.ts';
import type { GatewayError } from '../../platform/errors/gateway-error.ts';
import type { HeldBytes } from '../../platform/memory/held-bytes.ts';
import type { ReadShare } from '../../platform/telemetry/read-share-metrics.ts';
import { EventStream } from './event-stream.ts';
import type { ReadGroup } from './read-group.ts';
import type { ReadHead } from './read-head.ts';
import { dependsOnReader } from './read-key.ts';
import type { ReaderPlace } from './body-source.ts';
import { joinedWithHead } from './client-answer.ts';
import type { Reader } from './reader.ts';
import type { ReadSharing } from './read-sharing.ts';
import { MAX_SHARED_BODY_BYTES, SharedBody } from './shared-body.ts';
import { SoleBody } from './sole-body.ts';
import type { Reached } from '../upstream/send-again.ts';
import type { ReadObserver, UpstreamRead } from './upstream-read.ts';

/**
 * One upstream request and the readers that wait for its response. A `SoleBody` passes it on to a single reader, and
 * an `EventStream` to the readers of events. For several readers of anything else it is collected, up to a limit.
 */
export class SharedRequest implements ReadObserver, ReaderPlace {
  private readonly sharing: ReadSharing;
  /** Undefined as soon as the group no longer waits for this request. */
  private group: ReadGroup | undefined;
  private readonly held: HeldBytes;
  private readonly readers = new UnorderedList<Reader>();
  /** Undefined while its readers wait for it to be sent. */
  private read: UpstreamRead | undefined;
  private head: ReadHead | undefined;
  /** The body that is collected for several readers. */
  private shared: SharedBody | undefined;
  private bodyBytes = 0;

  /** `group` has the readers that may join it. Without a group it is for one reader. */
  constructor(sharing: ReadSharing, group?: ReadGroup) {
    this.sharing = sharing;
    this.held = sharing.held;
    this.group = group;
  }

  get hasReaders(): boolean {
    return this.readers.size > 0;
  }

  get reached(): Reached {
    return this.read?.reached ?? 'nowhere';
  }

  /** Sends the request of the first reader that has joined. `share` is what counts for that reader. */
  launch(share: ReadShare): void {
    const { first } = this.readers;
    if (!first) return;
    this.read = this.sharing.prepare(first.call, this);
    for (const reader of this.readers) {
      if (reader === first) reader.call.setShare(share);
      else reader.call.setShare('joined', first.call);
    }
    this.read.start();
  }

  /** Adds a reader. Call it only before the response has begun. */
  join(reader: Reader): void {
    reader.place = this;
    reader.awaitHead();
    this.readers.add(reader);
    if (this.read) reader.call.setShare('joined', this.read.call);
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
    else {
      for (const reader of this.readers) reader.onHead();
      this.collect(() => (this.shared = new SharedBody(this.held, head.contentLength)));
    }
  }

  onChunk(chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    this.collect(() => this.shared?.add(chunk));
    if (this.bodyBytes > MAX_SHARED_BODY_BYTES && this.head) this.split(this.head);
  }

  onEnd(): void {
    if (this.head) this.answerAll(this.head);
    this.release();
  }

  onFailure(error: GatewayError): void {
    this.close();
    this.failAll(error);
    this.release();
  }

  leave(reader: Reader): void {
    this.readers.delete(reader);
    this.endIfLeft();
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

  /** One reader keeps this response, and every other reader sends a request of its own. */
  private split(head: ReadHead): void {
    const { first } = this.readers;
    const collected = this.shared?.whole();
    this.shared?.release();
    this.shared = undefined;
    this.sendOthersAlone(first);
    const body = first && this.passTo(first, head);
    if (collected) body?.onChunk(collected);
    body?.release();
  }

  /**
   * All readers except one send a request of their own. The exception is the reader whose headers the request had,
   * if it is still there.
   */
  private sendOthersAlone(stays: Pick<Reader, 'call'> | undefined = this.read): void {
    for (const reader of this.readers.snapshot()) {
      if (reader.call === stays?.call) continue;
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

  /** From here on the body receives the response, and has the reader. */
  private passTo(reader: Reader, head: ReadHead): SoleBody | undefined {
    const { read } = this;
    if (!read) return undefined;
    const body = new SoleBody(reader, read, this.held, this.group);
    read.observer = body;
    reader.begin(head, body);
    return body;
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
    this.read.cancel();
    this.release();
  }

  private close(): void {
    this.group?.close(this);
  }

  private release(): void {
    this.group?.release();
    this.group = undefined;
  }
}
