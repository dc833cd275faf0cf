import type { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { ByteLog } from './byte-log.ts';
import { SseBoundary } from './sse-boundary.ts';

const MIN_TRIM_BYTES = 65_536;
/** Of the places at which the stream may end, those are kept that are this far from each other, and the last one. */
const SAFE_END_BYTES = 4_096;

/** The bytes of an event stream, counted towards the budget, and the places where the stream may end. */
export class EventLog {
  private readonly held: HeldBytes;
  private readonly log = new ByteLog();
  private readonly boundary: SseBoundary | undefined;
  /** The positions at which the stream may end, from the first one that a reader may need on. */
  private safeEnds: number[];
  /** With this many bytes it is worth checking which of them all readers have read. */
  private trimFrom = MIN_TRIM_BYTES;
  private heldBytes = 0;

  /** `boundary` is undefined if the events are compressed, because their boundaries are not visible. */
  constructor(held: HeldBytes, boundary: SseBoundary | undefined) {
    this.held = held;
    this.boundary = boundary;
    this.safeEnds = boundary ? [0] : [];
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

  /** Returns the first position within the chunk at which the stream may end, if there is one. */
  append(chunk: Buffer): number | undefined {
    const start = this.log.end;
    const ends = this.boundary?.follow(chunk);
    this.log.append(chunk);
    if (!ends) return undefined;
    this.addSafeEnd(start + ends.first);
    this.addSafeEnd(start + ends.last);
    return start + ends.first;
  }

  /** A position from `place` on at which the stream may end, if it has arrived. */
  safeEndFrom(place: number): number | undefined {
    return this.safeEnds.find((end) => end >= place);
  }

  private addSafeEnd(end: number): void {
    const isNearTheOneBeforeLast = end - (this.safeEnds.at(-2) ?? 0) < SAFE_END_BYTES;
    if (isNearTheOneBeforeLast) this.safeEnds.pop();
    this.safeEnds.push(end);
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
    if ((this.safeEnds[0] ?? 0) < before) {
      this.safeEnds = this.safeEnds.filter((end) => end >= before);
    }
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
