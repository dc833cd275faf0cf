import { joined } from '../../platform/collections/joined.ts';
import { PIECE_OVERHEAD_BYTES, type HeldBytes } from '../../platform/memory/held-bytes.ts';

/** Smaller pieces are joined, up to this size. */
const MAX_JOINED_BYTES = 16_384;

/**
 * The pieces of one response that wait for its client, in order. They count in the budget until the client has read
 * them.
 */
export class PieceQueue {
  private readonly held: HeldBytes;
  private pieces: Buffer[] = [];
  /** The bytes of the waiting pieces, including their objects. */
  private waitingBytes = 0;
  /** The bytes of the pieces in flight to the client. */
  private sentBytes = 0;

  constructor(held: HeldBytes) {
    this.held = held;
  }

  get isEmpty(): boolean {
    return this.pieces.length === 0;
  }

  /** All bytes that the client has not read yet. */
  get bytes(): number {
    return this.waitingBytes + this.sentBytes;
  }

  /** Adds a piece. The budget may disconnect slow clients for it, also this one. */
  add(piece: Buffer): void {
    const bytes = piece.length + PIECE_OVERHEAD_BYTES;
    this.pieces.push(piece);
    this.waitingBytes += bytes;
    this.held.hold('answers', bytes);
  }

  /** Counts a piece that is sent at once. */
  pass(piece: Buffer): void {
    this.sentBytes += piece.length;
    this.held.hold('answers', piece.length);
  }

  /** The next piece. Small ones are joined. It counts until `taken` is called. */
  next(): Buffer | undefined {
    let bytes = 0;
    let count = 0;
    for (const { length } of this.pieces) {
      if (count > 0 && bytes + length > MAX_JOINED_BYTES) break;
      bytes += length;
      count++;
    }
    if (count === 0) return undefined;
    const pieces = this.pieces.splice(0, count);
    const overheadBytes = count * PIECE_OVERHEAD_BYTES;
    this.waitingBytes -= bytes + overheadBytes;
    this.sentBytes += bytes;
    this.held.release('answers', overheadBytes);
    return count === 1 ? pieces[0] : joined(pieces);
  }

  /** Notes that the client has read this many bytes. */
  taken(bytes: number): void {
    this.sentBytes -= bytes;
    this.held.release('answers', bytes);
  }

  /** The client needs nothing more. */
  clear(): void {
    this.pieces = [];
    this.held.release('answers', this.waitingBytes + this.sentBytes);
    this.waitingBytes = 0;
    this.sentBytes = 0;
  }
}
