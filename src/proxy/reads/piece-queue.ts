import { joined } from '../../collections/joined.ts';
import { PIECE_OVERHEAD_BYTES, type HeldBytes } from '../../memory/held-bytes.ts';

/** Smaller pieces are joined, up to this size. */
const MAX_JOINED_BYTES = 16_384;

/** Pieces of one answer that wait for its client, first in first out; counted in the budget until they are taken. */
export class PieceQueue {
  private readonly held: HeldBytes;
  private pieces: Buffer[] = [];
  /** Of the pieces that wait, with what their objects take. */
  private waitingBytes = 0;
  /** Of the pieces that are under way to the client. */
  private sentBytes = 0;

  constructor(held: HeldBytes) {
    this.held = held;
  }

  get isEmpty(): boolean {
    return this.pieces.length === 0;
  }

  /** Of all that the client has not taken. */
  get bytes(): number {
    return this.waitingBytes + this.sentBytes;
  }

  /** Adds a piece. The budget may end slow clients for it, this one's too. */
  add(piece: Buffer): void {
    const bytes = piece.length + PIECE_OVERHEAD_BYTES;
    this.pieces.push(piece);
    this.waitingBytes += bytes;
    this.held.hold('answers', bytes);
  }

  /** Counts a piece that goes to the client at once. */
  pass(piece: Buffer): void {
    this.sentBytes += piece.length;
    this.held.hold('answers', piece.length);
  }

  /** The next piece, several small ones joined; it counts until it is `taken`. */
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

  /** The client has taken so many bytes of what was sent. */
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
