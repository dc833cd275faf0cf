import type { HeldBytes, HeldKind } from '../../platform/memory/held-bytes.ts';
import type { SseBoundary } from './sse-boundary.ts';

/** The size of the first block of a log. Each further block is twice as large as the one before. */
const MIN_BLOCK_BYTES = 512;
const MAX_BLOCK_BYTES = 16_384;
/**
 * A piece from this size on is kept without a copy, and so is the first piece: a copy costs more than a block of
 * its own.
 */
const MIN_ADOPTED_BYTES = 4_096;
/** The memory of a block besides its bytes. */
const BLOCK_OVERHEAD_BYTES = 256;
/** Of the places at which the stream may end, those are kept that are this far from each other, and the last one. */
const SAFE_END_BYTES = 4_096;

interface Block {
  /** The position of its first byte in the log. */
  readonly start: number;
  readonly bytes: Buffer;
  usedBytes: number;
}

/**
 * The bytes of a response for readers at different positions, counted towards the budget, and the places where an event
 * stream may end. It joins small pieces in blocks: as objects of their own they would take twenty times their size.
 */
export class AnswerLog {
  /** The position after the last byte. */
  end = 0;
  /** Undefined if the response has no events, or hides their boundaries by compression. */
  readonly boundary: SseBoundary | undefined;
  private readonly held: HeldBytes;
  private readonly kind: HeldKind;
  private readonly blocks: Block[] = [];
  private blockBytes = 0;
  /** What counts towards the budget. */
  private heldBytes = 0;
  /** The positions at which the stream may end, from the first one that a reader may need on. */
  private safeEnds: number[];

  constructor(held: HeldBytes, kind: HeldKind, boundary?: SseBoundary) {
    this.held = held;
    this.kind = kind;
    this.boundary = boundary;
    this.safeEnds = boundary ? [0] : [];
  }

  /** The position of the first byte that the log still holds. */
  get start(): number {
    return this.blocks[0]?.start ?? this.end;
  }

  /** The memory that has not been counted yet, in bytes. Below 0 if some was released. */
  private get grownBytes(): number {
    return this.blockBytes + this.blocks.length * BLOCK_OVERHEAD_BYTES - this.heldBytes;
  }

  /** Returns the first position within the piece at which the stream may end, if there is one. */
  append(piece: Buffer): number | undefined {
    const start = this.end;
    const ends = this.boundary?.follow(piece);
    const last = this.blocks.at(-1);
    if (last && last.usedBytes + piece.length <= last.bytes.length) {
      piece.copy(last.bytes, last.usedBytes);
      last.usedBytes += piece.length;
    } else {
      this.addBlock(piece);
    }
    this.end += piece.length;
    if (!ends) return undefined;
    this.addSafeEnd(start + ends.first);
    this.addSafeEnd(start + ends.last);
    return start + ends.first;
  }

  /** A position from `place` on at which the stream may end, if it has arrived. */
  safeEndFrom(place: number): number | undefined {
    return this.safeEnds.find((end) => end >= place);
  }

  /** The bytes from a position to the end of its block. The log must hold `from`, which must not be its end. */
  view(from: number): Buffer {
    const { bytes, start, usedBytes } = this.blocks[this.blockAt(from)] as Block;
    return bytes.subarray(from - start, usedBytes);
  }

  /** A copy of the bytes between two positions. */
  copy(from: number, to: number): Buffer {
    const copy = Buffer.allocUnsafeSlow(to - from);
    for (let at = from; at < to;) {
      const view = this.view(at).subarray(0, to - at);
      view.copy(copy, at - from);
      at += view.length;
    }
    return copy;
  }

  /** All bytes. There must be some, and none may have been trimmed. */
  whole(): Buffer {
    const first = this.view(0);
    return first.length === this.end ? first : this.copy(0, this.end);
  }

  /** Releases the blocks that end at or before a position. */
  trim(before: number): void {
    let count = 0;
    for (const { start, bytes, usedBytes } of this.blocks) {
      if (start + usedBytes > before) break;
      this.blockBytes -= bytes.length;
      count++;
    }
    if (count > 0) this.blocks.splice(0, count);
    if ((this.safeEnds[0] ?? 0) < before) {
      this.safeEnds = this.safeEnds.filter((end) => end >= before);
    }
    this.countHeld();
  }

  /** Counts what has arrived as new work, for which the budget must have room. Returns whether it has. */
  reserveArrived(): boolean {
    const { grownBytes } = this;
    if (grownBytes > 0 && !this.held.tryTake(this.kind, grownBytes)) return false;
    this.heldBytes += grownBytes;
    return true;
  }

  /** Brings the budget up to date. */
  countHeld(): void {
    const { grownBytes } = this;
    this.heldBytes += grownBytes;
    if (grownBytes > 0) this.held.hold(this.kind, grownBytes);
    else if (grownBytes < 0) this.held.release(this.kind, -grownBytes);
  }

  private addSafeEnd(end: number): void {
    const isNearTheOneBeforeLast = end - (this.safeEnds.at(-2) ?? 0) < SAFE_END_BYTES;
    if (isNearTheOneBeforeLast) this.safeEnds.pop();
    this.safeEnds.push(end);
  }

  private addBlock(piece: Buffer): void {
    const isAdopted = piece.length >= MIN_ADOPTED_BYTES || this.blocks.length === 0;
    const bytes = isAdopted ? piece : this.newBlock(piece);
    this.blocks.push({ start: this.end, bytes, usedBytes: piece.length });
    this.blockBytes += bytes.length;
  }

  private newBlock(piece: Buffer): Buffer {
    const doubled = 2 * (this.blocks.at(-1)?.bytes.length ?? 0);
    const bytes = Buffer.allocUnsafeSlow(
      Math.max(MIN_BLOCK_BYTES, Math.min(doubled, MAX_BLOCK_BYTES), piece.length),
    );
    piece.copy(bytes);
    return bytes;
  }

  /** The index of the block that contains a position. Most readers are at the end. */
  private blockAt(place: number): number {
    let at = this.blocks.length - 1;
    while (at > 0 && (this.blocks[at] as Block).start > place) at--;
    return at;
  }
}
