import type { HeldBytes, HeldKind } from '../../platform/memory/held-bytes.ts';
import { ByteLog } from './byte-log.ts';
import { SseBoundary } from './sse-boundary.ts';

const MIN_TRIM_BYTES = 65_536;
/** Of the places at which the stream may end, those are kept that are this far from each other, and the last one. */
const SAFE_END_BYTES = 4_096;

/** The bytes of a response, counted towards the budget, and the places where an event stream may end. */
export class AnswerLog {
  private readonly held: HeldBytes;
  private readonly kind: HeldKind;
  private readonly log = new ByteLog();
  private readonly boundary: SseBoundary | undefined;
  /** The positions at which the stream may end, from the first one that a reader may need on. */
  private safeEnds: number[];
  /** With this many bytes it is worth checking which of them all readers have read. */
  private trimFrom = MIN_TRIM_BYTES;
  private heldBytes = 0;

  /** `boundary` is undefined if the response has no events, or hides their boundaries by compression. */
  constructor(held: HeldBytes, kind: HeldKind, boundary?: SseBoundary) {
    this.held = held;
    this.kind = kind;
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

  /** The bytes from a position, which must not be the end, to the end of its block. */
  view(from: number): Buffer {
    return this.log.view(from);
  }

  copy(from: number, to: number): Buffer {
    return this.log.copy(from, to);
  }

  /** All bytes. There must be some, and none may have been trimmed. */
  whole(): Buffer {
    const { end } = this.log;
    const first = this.log.view(0);
    return first.length === end ? first : this.log.copy(0, end);
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

  /** Takes room for a response of this length before it arrives. Returns whether the budget has it. */
  reserve(bytes: number): boolean {
    if (!this.held.tryTake(this.kind, bytes)) return false;
    this.heldBytes += bytes;
    return true;
  }

  /** Takes room for what has arrived beyond what is reserved. Returns whether the budget has it. */
  reserveArrived(): boolean {
    const grownBytes = this.log.heldBytes - this.heldBytes;
    return grownBytes <= 0 || this.reserve(grownBytes);
  }

  /** Brings the budget up to date. */
  countHeld(): void {
    const grownBytes = this.log.heldBytes - this.heldBytes;
    this.heldBytes += grownBytes;
    if (grownBytes > 0) this.held.hold(this.kind, grownBytes);
    else if (grownBytes < 0) this.held.release(this.kind, -grownBytes);
  }

  private addSafeEnd(end: number): void {
    const isNearTheOneBeforeLast = end - (this.safeEnds.at(-2) ?? 0) < SAFE_END_BYTES;
    if (isNearTheOneBeforeLast) this.safeEnds.pop();
    this.safeEnds.push(end);
  }
}
