/** The first block of a log is this large, and each further one twice as large as the one before. */
const MIN_BLOCK_BYTES = 512;
const MAX_BLOCK_BYTES = 16_384;
/** A piece of this size is kept as it came, as is the first one: to copy it costs more than a block of its own. */
const MIN_ADOPTED_BYTES = 4_096;
/** What a block takes in memory beside its bytes. */
const BLOCK_OVERHEAD_BYTES = 256;

interface Block<Mark> {
  /** The place of its first byte, counted from the beginning of the log. */
  readonly start: number;
  readonly bytes: Buffer;
  usedBytes: number;
  /** What the writer has to remember of this place. */
  readonly mark: Mark;
}

/**
 * Bytes in the order in which they came, for readers that are at different places. Small pieces are joined in blocks:
 * as an object each they would take twenty times their size.
 */
export class ByteLog<Mark> {
  private readonly blocks: Block<Mark>[] = [];
  private endAt = 0;
  private blockBytes = 0;

  /** The place of the first byte that is still held. */
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

  /** Adds bytes. `mark` is called where they begin a new block. */
  append(piece: Buffer, mark: () => Mark): void {
    const last = this.blocks.at(-1);
    if (last && last.usedBytes + piece.length <= last.bytes.length) {
      piece.copy(last.bytes, last.usedBytes);
      last.usedBytes += piece.length;
    } else {
      this.addBlock(piece, mark());
    }
    this.endAt += piece.length;
  }

  /** The bytes from a place on, as many as lie together. `from` must be held, and not the end. */
  view(from: number): Buffer {
    const { bytes, start, usedBytes } = this.blocks[this.blockAt(from)] as Block<Mark>;
    return bytes.subarray(from - start, usedBytes);
  }

  /** Each stretch of bytes from the beginning of the block that holds `from`, with its place and mark. */
  *stretches(from: number): Iterable<{ start: number; bytes: Buffer; mark: Mark }> {
    for (let at = this.blockAt(from); at < this.blocks.length; at++) {
      const { start, bytes, usedBytes, mark } = this.blocks[at] as Block<Mark>;
      yield { start, bytes: bytes.subarray(0, usedBytes), mark };
    }
  }

  /** A copy of the bytes between two places. */
  copy(from: number, to: number): Buffer {
    const copy = Buffer.allocUnsafeSlow(to - from);
    for (let at = from; at < to;) {
      const view = this.view(at).subarray(0, to - at);
      view.copy(copy, at - from);
      at += view.length;
    }
    return copy;
  }

  /** Lets go of the blocks that end at a place or before it. */
  trim(before: number): void {
    let count = 0;
    for (const { start, bytes, usedBytes } of this.blocks) {
      if (start + usedBytes > before) break;
      this.blockBytes -= bytes.length;
      count++;
    }
    if (count > 0) this.blocks.splice(0, count);
  }

  private addBlock(piece: Buffer, mark: Mark): void {
    const isAdopted = piece.length >= MIN_ADOPTED_BYTES || this.blocks.length === 0;
    const bytes = isAdopted ? piece : this.newBlock(piece);
    this.blocks.push({ start: this.endAt, bytes, usedBytes: piece.length, mark });
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
    while (at > 0 && (this.blocks[at] as Block<Mark>).start > place) at--;
    return at;
  }
}
