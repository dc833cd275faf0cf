import type { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { ByteLog } from './byte-log.ts';
import { SseBoundary } from './sse-boundary.ts';

const MIN_TRIM_BYTES = 65_536;

/** The bytes of an event stream, counted towards the budget, and the places where the stream may end. */
export class EventLog {
  private readonly held: HeldBytes;
  /** Each block is marked with the event boundary at its beginning. */
  private readonly log = new ByteLog<SseBoundary | undefined>();
  private readonly boundary: SseBoundary | undefined;
  /** With this many bytes it is worth checking which of them all readers have read. */
  private trimFrom = MIN_TRIM_BYTES;
  private heldBytes = 0;

  /** `boundary` is undefined if the events are compressed, because their boundaries are not visible. */
  constructor(held: HeldBytes, boundary: SseBoundary | undefined) {
    this.held = held;
    this.boundary = boundary;
  }

  /** Whether a place at which the stream may end can be found at all. */
  get hasBoundaries(): boolean {
    return this.boundary !== undefined;
  }

  /** The position after the last byte. */
  get end(): number {
    return this.log.end;
  }

  get isEmpty(): boolean {
    return this.log.start === this.log.end;
  }

  /** How many bytes have been appended since the first that is still kept. */
  get length(): number {
    return this.log.end - this.log.start;
  }

  get isWorthTrimming(): boolean {
    return this.length >= this.trimFrom;
  }

  append(chunk: Buffer): void {
    this.log.append(chunk, () => this.boundary?.clone());
    this.boundary?.follow(chunk);
  }

  /** The first position at which the stream may end within a chunk that is appended next. */
  safeEndIn(chunk: Buffer): number | undefined {
    const length = this.boundary?.clone().firstSafeEnd(chunk) ?? -1;
    return length === -1 ? undefined : this.log.end + length;
  }

  /** The next position at which the stream may end, if it has arrived. */
  safeEndFrom(place: number): number | undefined {
    if (!this.boundary) return undefined;
    if (place === this.log.end) return this.boundary.isSafe ? place : undefined;
    let follower: SseBoundary | undefined;
    for (const { start, bytes, mark } of this.log.stretches(place)) {
      follower ??= mark?.clone();
      if (start >= place && follower?.isSafe) return start;
      for (let at = 0; ;) {
        const length = follower?.firstSafeEnd(bytes.subarray(at)) ?? -1;
        if (length === -1) break;
        at += length;
        if (start + at >= place) return start + at;
      }
    }
    return undefined;
  }

  /** The bytes from a position, which must not be the end, to the end of its block. */
  view(from: number): Buffer {
    return this.log.view(from);
  }

  copy(from: number, to: number): Buffer {
    return this.log.copy(from, to);
  }

  /** Releases the bytes before a position. */
  trim(before: number): void {
    this.log.trim(before);
    this.trimFrom = Math.max(MIN_TRIM_BYTES, 2 * this.length);
    this.countHeld();
  }

  /** Brings the budget up to date. */
  countHeld(): void {
    const grownBytes = this.log.heldBytes - this.heldBytes;
    this.heldBytes += grownBytes;
    if (grownBytes > 0) this.held.hold('events', grownBytes);
    else if (grownBytes < 0) this.held.release('events', -grownBytes);
  }
}
