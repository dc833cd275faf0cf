import { Bag } from '../../collections/bag.ts';
import type { GatewayError } from '../../errors/gateway-error.ts';
import type { ReadShare } from '../../telemetry/shared-reads.ts';
import type { EventStream } from './event-stream.ts';
import type { ReadHead } from './read-head.ts';
import { dependsOnReader } from './read-key.ts';
import { joinedWithHead, type Reader, type ReadSource } from './reader.ts';
import type { ReadSender } from './read-sender.ts';
import type { ReadCall, ReadObserver, UpstreamRead } from './upstream-read.ts';

/** The largest answer that is collected for several readers; beyond it each sends its own request. */
export const MAX_SHARED_BODY_BYTES = 1_048_576;

/** What every flight's owner needs. */
export interface FlightParts {
  sender: ReadSender;
  /** Sends a request for this reader and no other. */
  sendAlone(reader: Reader): void;
  /**
   * To be called once for each reader, when it is known which request answers it; where it joined that
   * of another reader, `first` is that one's call.
   */
  count(reader: Reader, share: ReadShare, first?: ReadCall): void;
}

/** Who has to know how a flight goes. */
export interface FlightOwner {
  /** No reader may join any more: the answer has begun, or nobody waits for it. */
  onClosed(flight: Flight): void;
  /** The flight holds up nobody any more: it has ended, or goes on at the pace of its one reader. */
  onReleased(flight: Flight): void;
  /** The answer is an event stream: makes what takes it from here, for others to join or for one only. */
  toEventStream(read: UpstreamRead, head: ReadHead, isForOne: boolean): EventStream;
  /** The answer cannot be shared: this reader needs a request of its own. */
  sendAlone(reader: Reader): void;
}

/**
 * One request to an upstream and the readers that wait for its answer. With one reader the answer
 * passes straight through at that reader's pace; for several it is collected, up to a limit.
 */
export class Flight implements ReadObserver, ReadSource {
  private readonly owner: FlightOwner;
  private readonly readers = new Bag<Reader>();
  private read!: UpstreamRead;
  private head: ReadHead | undefined;
  /** The reader whose request was sent. */
  private sentFor: Reader | undefined;
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
    const { first } = this.readers;
    if (!first) return;
    this.sentFor = first;
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
  }

  onChunk(chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    if (this.sole) this.sole.write(chunk);
    else this.chunks.push(chunk);
    if (this.bodyBytes <= MAX_SHARED_BODY_BYTES) return;
    if (this.sole) this.release();
    else if (this.head) this.split(this.head);
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
    for (const reader of this.readers.snapshot()) reader.fail(error);
    this.release();
  }

  leave(reader: Reader): void {
    this.readers.delete(reader);
    this.endIfLeft();
  }

  onBehind(): void {
    this.read.pause();
    // A slow client must not hold up those that wait for their turn.
    this.release();
  }

  onDrained(): void {
    this.read.resume();
  }

  private passTo(reader: Reader, head: ReadHead): void {
    this.sole = reader;
    reader.begin(head);
    for (const chunk of this.chunks) reader.write(chunk);
    this.chunks = [];
  }

  /** The first reader goes on with this answer, and every other sends a request of its own. */
  private split(head: ReadHead): void {
    const { first } = this.readers;
    this.sendOthersAlone(first);
    if (first) this.passTo(first, head);
    this.release();
  }

  /** All but one, or but the one whose headers the request had, send a request of their own. */
  private sendOthersAlone(stays = this.sentFor): void {
    for (const reader of this.readers.snapshot()) {
      if (reader === stays) continue;
      this.readers.delete(reader);
      this.owner.sendAlone(reader);
    }
    this.endIfLeft();
  }

  private answerAll(head: ReadHead): void {
    const body = this.chunks.length > 0 ? joinedWithHead(Buffer.concat(this.chunks)) : undefined;
    for (const reader of this.readers.snapshot()) reader.answer(head, body);
  }

  private becomeEventStream(stream: EventStream): void {
    this.read.observer = stream;
    for (const reader of this.readers.takeAll()) stream.join(reader);
    this.release();
  }

  private endIfLeft(): void {
    if (this.readers.size > 0) return;
    this.close();
    this.read.cancel();
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
