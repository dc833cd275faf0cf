import { joined } from '../../platform/collections/joined.ts';
import type { GatewayError } from '../../platform/errors/gateway-error.ts';
import { PIECE_OVERHEAD_BYTES, type HeldBytes } from '../../platform/memory/held-bytes.ts';
import type { BodySource } from './body-source.ts';
import type { ReadGroup } from './read-group.ts';
import type { Reader } from './reader.ts';
import { MAX_SHARED_BODY_BYTES } from './shared-body.ts';
import type { ReadObserver, UpstreamRead } from './upstream-read.ts';

/** With this many bytes waiting for its client, the upstream's response is paused. */
const MAX_WAITING_BYTES = 65_536;
/** Smaller pieces are joined, up to this size. */
const MAX_JOINED_BYTES = 16_384;

/**
 * The body of a response for a single reader, which gets it directly and at the pace of its client. Its pieces count
 * in the budget until the client has read them.
 */
export class SoleBody implements ReadObserver, BodySource {
  private readonly reader: Reader;
  private readonly read: UpstreamRead;
  private readonly held: HeldBytes;
  /** The group whose next request waits for this response. */
  private group: ReadGroup | undefined;
  private pieces: Buffer[] = [];
  /** The bytes of the waiting pieces, including their objects. */
  private waitingBytes = 0;
  /** The bytes of the pieces in flight to the client. */
  private sentBytes = 0;
  private arrivedBytes = 0;
  private isComplete = false;

  constructor(reader: Reader, read: UpstreamRead, held: HeldBytes, group: ReadGroup | undefined) {
    this.reader = reader;
    this.read = read;
    this.held = held;
    this.group = group;
    reader.call.context.ownRead = read;
  }

  onHead(): void {
    // The head arrived before this body was made.
  }

  onChunk(chunk: Buffer): void {
    const { reader } = this;
    this.arrivedBytes += chunk.length;
    if (reader.isReady && this.pieces.length === 0) {
      this.sentBytes += chunk.length;
      this.held.hold('answers', chunk.length);
      this.held.addSlow(reader);
      reader.write(chunk);
    } else {
      this.keep(chunk);
      reader.wake();
    }
    const isSlow = this.unreadBytes >= MAX_WAITING_BYTES;
    if (isSlow) this.read.pause();
    // Neither a slow client nor a large body must delay the readers that wait for their turn.
    if (isSlow || this.arrivedBytes > MAX_SHARED_BODY_BYTES) this.release();
  }

  onEnd(): void {
    this.isComplete = true;
    this.reader.wake();
    this.release();
  }

  onFailure(error: GatewayError): void {
    this.reader.fail(error);
    this.release();
  }

  /** The next piece. Small ones are joined. */
  next(reader: Reader): Buffer | undefined {
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
    this.held.addSlow(reader);
    return count === 1 ? pieces[0] : joined(pieces);
  }

  isWhole(): boolean {
    return this.isComplete && this.pieces.length === 0;
  }

  onTaken(reader: Reader, bytes: number): void {
    this.held.deleteSlow(reader);
    if (reader.isSending) this.held.addSlow(reader);
    this.sentBytes -= bytes;
    this.held.release('answers', bytes);
    if (this.unreadBytes < MAX_WAITING_BYTES) this.read.resume();
  }

  endSoon(): void {
    // The response is finite and may finish.
  }

  leave(reader: Reader): void {
    this.held.deleteSlow(reader);
    this.held.release('answers', this.unreadBytes);
    this.pieces = [];
    this.waitingBytes = 0;
    this.sentBytes = 0;
    this.read.cancel();
    this.release();
  }

  /** The group no longer waits for this response. */
  release(): void {
    this.group?.release();
    this.group = undefined;
  }

  private get unreadBytes(): number {
    return this.waitingBytes + this.sentBytes;
  }

  /** Keeps a piece for later. */
  private keep(piece: Buffer): void {
    const bytes = piece.length + PIECE_OVERHEAD_BYTES;
    this.pieces.push(piece);
    this.waitingBytes += bytes;
    this.held.hold('answers', bytes);
  }
}
