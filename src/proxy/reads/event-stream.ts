import { TurnQueue } from '../../platform/collections/turn-queue.ts';
import type { GatewayError } from '../../platform/errors/gateway-error.ts';
import type { HeldBytes, SlowClient } from '../../platform/memory/held-bytes.ts';
import { EventLog } from './event-log.ts';
import type { ReadGroup } from './read-group.ts';
import type { ReadHead } from './read-head.ts';
import { SseBoundary, STALLED_EVENT_MS } from './sse-boundary.ts';
import type { BodySource } from './body-source.ts';
import type { Reader } from './reader.ts';
import type { ReadObserver, UpstreamRead } from './upstream-read.ts';

/** How far behind the newest event a reader may fall, in bytes, before its stream is ended. */
const MAX_BEHIND_BYTES = 1_048_576;
/** The most bytes that are kept for later readers. Beyond it no reader may join. */
const MAX_REPLAY_BYTES = 262_144;
/** Events wait for the end of the turn to be sent together, up to this many bytes. */
const MAX_UNDELIVERED_BYTES = 65_536;
/** The most further bytes for a reader that is ended, to reach the end of an event. */
const MAX_TAIL_BYTES = 1_048_576;

/**
 * An event stream of the upstream and its readers. One log keeps the bytes for all of them, until the last reader
 * has read them. Each reader has its own position in the log, and gets the next bytes when it has read the last
 * ones. The fastest reader sets the pace. A reader that falls far behind is ended where it can resume, so that it
 * neither delays others nor fills the memory.
 *
 * A later reader gets everything from the start, as long as the log still has it.
 */
export class EventStream implements ReadObserver, BodySource, SlowClient {
  timedPlace: SlowClient['timedPlace'];
  private readonly read: UpstreamRead;
  private readonly head: ReadHead;
  private readonly held: HeldBytes;
  private readonly readers = new Set<Reader>();
  private readonly log: EventLog;
  private readonly group: Pick<ReadGroup, 'close'> | undefined;
  /** Whether later readers may join: the log is kept from its beginning. */
  private isJoinable = true;
  /** Whether the upstream has ended it, and has not broken it off. */
  private isComplete = false;
  private isDue = false;
  private deliveredTo = 0;
  private isTrimDue = false;
  /** How many readers have bytes in flight. */
  private sending = 0;
  /** Readers that end after the current event. Usually there are none. */
  private ending: Set<Reader> | undefined;

  /** The stream tells its group once, when the log no longer holds the beginning for later readers. */
  constructor(
    read: UpstreamRead,
    head: ReadHead,
    held: HeldBytes,
    group?: Pick<ReadGroup, 'close'>,
  ) {
    this.read = read;
    this.head = head;
    this.held = held;
    this.group = group;
    const { safeEvent } = read.call.upstream.protocol;
    this.log = new EventLog(held, head.isEncoded ? undefined : new SseBoundary(safeEvent));
  }

  /** Adds a reader that came after the response had begun. */
  join(reader: Reader): void {
    reader.call.setShare('joined', this.read.call);
    this.add(reader);
  }

  /** Adds a reader, which gets the stream from its beginning. */
  add(reader: Reader): void {
    this.readers.add(reader);
    reader.begin(this.head, this);
  }

  onHead(): void {
    // The upstream's body arrived before this stream was made.
  }

  onChunk(chunk: Buffer): void {
    const safeEnd = this.log.append(chunk);
    if (safeEnd !== undefined) this.endWaiting(safeEnd);
    if (this.isJoinable && (this.log.end > MAX_REPLAY_BYTES || !this.held.hasRoom())) {
      this.stopReplay();
    }
    this.log.countHeld();
    if (this.log.end - this.deliveredTo >= MAX_UNDELIVERED_BYTES) this.deliver();
    else if (!this.isDue) {
      this.isDue = true;
      deliveries.add(this);
    }
  }

  onEnd(): void {
    this.isComplete = true;
    this.stopReplay();
    this.deliver();
  }

  onFailure(error: GatewayError): void {
    for (const reader of this.readers) reader.fail(error);
  }

  /** Wakes the readers that have read everything before. */
  deliver(): void {
    this.isDue = false;
    this.deliveredTo = this.log.end;
    let behind = 0;
    for (const reader of this.readers) {
      if (reader.isFull) behind++;
      else reader.wake();
    }
    if (behind === 0) {
      this.held.deleteSlow(this);
      return;
    }
    this.held.addSlow(this);
    if (behind === this.readers.size) this.read.pause();
    else this.endTooSlow();
  }

  next(reader: Reader): Buffer | undefined {
    if (reader.writtenTo === this.log.end) return undefined;
    const piece = this.log.view(reader.writtenTo);
    if (!reader.isSending) this.sending++;
    reader.writtenTo += piece.length;
    this.resumeFor(reader);
    return piece;
  }

  isWhole(reader: Reader): boolean {
    return this.isComplete && reader.writtenTo === this.log.end;
  }

  onTaken(reader: Reader, bytes: number): void {
    reader.takenTo += bytes;
    if (!reader.isSending && --this.sending === 0) this.trim();
    // A reader that always has bytes in flight must not keep what it has read.
    else if (this.log.isWorthTrimming) this.trimSoon();
    this.resumeFor(reader);
  }

  endSoon(reader: Reader, reason: Error): void {
    if (!this.log.hasBoundaries) {
      reader.fail(reason);
      return;
    }
    const end = this.log.safeEndFrom(reader.writtenTo);
    if (end !== undefined) {
      this.endAt(reader, end);
      return;
    }
    this.ending ??= new Set();
    this.ending.add(reader);
    reader.dropIn(STALLED_EVENT_MS);
  }

  leave(reader: Reader): void {
    if (!this.readers.delete(reader)) return;
    this.ending?.delete(reader);
    if (reader.isSending) this.sending--;
    if (this.readers.size > 0) {
      if (reader.takenTo < this.log.end) this.trimSoon();
      return;
    }
    this.stopReplay();
    this.log.trim(this.log.end);
    this.held.deleteSlow(this);
    this.read.cancel();
  }

  /** Lets no further reader join. */
  stopReplay(): void {
    if (!this.isJoinable) return;
    this.isJoinable = false;
    this.group?.close(this);
    this.trim();
  }

  /** Ends the slowest readers, because the memory is needed. */
  shed(): void {
    const behind = [...this.readers].filter(({ isFull }) => isFull);
    const furthest = Math.min(...behind.map(({ takenTo }) => takenTo));
    for (const reader of behind) if (reader.takenTo === furthest) reader.shed();
    this.trim();
    if (behind.some(({ takenTo }) => takenTo > furthest)) this.held.addSlow(this);
  }

  /** Ends the readers that wait for the end of an event. */
  private endWaiting(end: number): void {
    for (const reader of this.ending ?? []) this.endAt(reader, end);
  }

  /** A lone reader is never too slow: the upstream waits for it. */
  private endTooSlow(): void {
    if (this.log.length <= MAX_BEHIND_BYTES) return;
    for (const reader of this.readers) {
      if (!reader.isFull || this.log.end - reader.takenTo <= MAX_BEHIND_BYTES) continue;
      // Its response has begun, so no error can be sent.
      reader.call.context.errorReason = 'slow_reader';
      const end = this.log.safeEndFrom(reader.writtenTo);
      if (end === undefined) reader.shed();
      else this.endAt(reader, end);
    }
  }

  /** The upstream continues as soon as one reader has everything. */
  private resumeFor(reader: Reader): void {
    if (reader.writtenTo === this.log.end) this.read.resume();
  }

  private endAt(reader: Reader, end: number): void {
    const { writtenTo } = reader;
    if (end - writtenTo > MAX_TAIL_BYTES) reader.shed();
    else reader.endWith(end > writtenTo ? this.log.copy(writtenTo, end) : undefined);
  }

  /** Releases the bytes that every reader has read. */
  trim(): void {
    this.isTrimDue = false;
    if (this.isJoinable || this.log.isEmpty) return;
    let needed = this.log.end;
    for (const { takenTo } of this.readers) if (takenTo < needed) needed = takenTo;
    this.log.trim(needed);
  }

  /** Runs once per turn for all readers that read or leave, because it checks every reader. */
  private trimSoon(): void {
    if (this.isTrimDue) return;
    this.isTrimDue = true;
    trims.add(this);
  }
}

/** Event streams that got events in this turn of the event loop. */
const deliveries = new TurnQueue<EventStream>((stream) => stream.deliver());

/** Event streams whose readers have read or left in this turn. */
const trims = new TurnQueue<EventStream>((stream) => stream.trim());
