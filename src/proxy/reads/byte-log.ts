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

interface Block {
  /** The position of its first byte in the log. */
  readonly start: number;
  readonly bytes: Buffer;
  usedBytes: number;
}

/**
 * A log of bytes for readers at different positions. It joins small pieces in blocks: as objects of their own they
 * would take twenty times their size.
 */
export class ByteLog {
  private readonly blocks: Block[] = [];
  private endAt = 0;
  private blockBytes = 0;

  /** The position of the first byte that the log still holds. */
  get start(): number {
    return this.blocks[0]?.start ?? this.endAt;
  }

  /** The position after the last byte. */
  get end(): number {
    return this.endAt;
  }

  /** The memory that the log takes, in bytes. */
  get heldBytes(): number {
    return this.blockBytes + this.blocks.length * BLOCK_OVERHEAD_BYTES;
  }

  append(piece: Buffer): void {
    const last = this.blocks.at(-1);
    if (last && last.usedBytes + piece.length <= last.bytes.length) {
      piece.copy(last.bytes, last.usedBytes);
      last.usedBytes += piece.length;
    } else {
      this.addBlock(piece);
    }
    this.endAt += piece.length;
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

  /** Releases the blocks that end at or before a position. */
  trim(before: number): void {
    let count = 0;
    for (const { start, bytes, usedBytes } of this.blocks) {
      if (start + usedBytes > before) break;
      this.blockBytes -= bytes.length;
      count++;
    }
    if (count > 0) this.blocks.splice(0, count);
  }

  private addBlock(piece: Buffer): void {
    const isAdopted = piece.length >= MIN_ADOPTED_BYTES || this.blocks.length === 0;
    const bytes = isAdopted ? piece : this.newBlock(piece);
    this.blocks.push({ start: this.endAt, bytes, usedBytes: piece.length });
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
