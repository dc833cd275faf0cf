import { PIECE_OVERHEAD_BYTES, type HeldBytes } from '../../platform/memory/held-bytes.ts';
import type { SlowClient } from '../../platform/memory/slow-clients.ts';
import type { SharedBody } from './shared-body.ts';

/** The most pieces, and about the most bytes, that are in flight to a client. */
const MAX_PIECES = 4;
const MAX_BYTES = 65_536;

/**
 * The bytes of one response that were written and that its client has not read yet. The source of the response counts
 * them in the budget until it has no more; after that they count here.
 */
export class UnreadBytes {
  /** The shared body of the response. Its bytes count there. */
  shared: SharedBody | undefined;
  private readonly held: HeldBytes;
  private readonly client: SlowClient;
  /** What the kernel has not accepted yet. */
  private pieces = 0;
  private bytes = 0;
  /** What counts in the budget from the end of the response until its connection is free. */
  private lastBytes = 0;

  constructor(held: HeldBytes, client: SlowClient) {
    this.held = held;
    this.client = client;
  }

  get isEmpty(): boolean {
    return this.pieces === 0;
  }

  /** Whether so many bytes are in flight that no more may be written for now. */
  get isFull(): boolean {
    return this.pieces >= MAX_PIECES || this.bytes >= MAX_BYTES;
  }

  /** A piece is written. */
  add(bytes: number): void {
    this.pieces++;
    this.bytes += bytes;
    this.held.sent(bytes);
  }

  /** The kernel has accepted a piece. */
  taken(bytes: number): void {
    this.pieces--;
    this.bytes -= bytes;
  }

  /** The response ends with a piece of this many bytes. The budget may disconnect its client for it. */
  end(lastPieceBytes: number): void {
    const ownBytes = this.shared ? 0 : lastPieceBytes;
    this.lastBytes = PIECE_OVERHEAD_BYTES + ownBytes + this.bytes;
    this.held.hold('answers', this.lastBytes);
    this.held.addSlow(this.client);
    this.held.sent(lastPieceBytes);
  }

  /** The response is closed. */
  close(): void {
    this.held.deleteSlow(this.client);
    this.held.release('answers', this.lastBytes);
    this.lastBytes = 0;
    this.shared?.leave();
    this.shared = undefined;
  }
}
