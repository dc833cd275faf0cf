import type { HeldBytes } from '../../platform/memory/held-bytes.ts';
import { overloaded } from '../../platform/errors/gateway-error.ts';
import { ByteLog } from './byte-log.ts';

/** The largest response that is collected for several readers. Beyond it each reader sends its own request. */
export const MAX_SHARED_BODY_BYTES = 1_048_576;

/**
 * The body of a response for several readers. It is collected and held until the last of them has read it. When the
 * head declares a length, room is reserved at once: readers for whom there is no room are refused before their
 * bodies arrive.
 */
export class SharedBody {
  /** The readers that have not read all of it yet. */
  private readers = 0;
  private readonly held: HeldBytes;
  private readonly log = new ByteLog();
  private takenBytes = 0;

  /** Throws `overloaded` if the budget has no room for the declared length. */
  constructor(held: HeldBytes, declaredBytes: number | undefined) {
    this.held = held;
    this.take(declaredBytes ?? 0);
  }

  /** Adds a piece. Throws `overloaded`. */
  add(piece: Buffer): void {
    this.log.append(piece);
    if (this.log.heldBytes > this.takenBytes) this.take(this.log.heldBytes - this.takenBytes);
  }

  /** The whole body in one piece, or undefined if it is empty. */
  whole(): Buffer | undefined {
    const { log } = this;
    if (log.end === 0) return undefined;
    const first = log.view(0);
    return first.length === log.end ? first : log.copy(0, log.end);
  }

  /** Sets the number of readers. Each calls `leave` when it has read the body. */
  giveTo(readers: number): void {
    this.readers = readers;
    if (readers === 0) this.release();
  }

  leave(): void {
    if (--this.readers === 0) this.release();
  }

  /** Returns its bytes to the budget. */
  release(): void {
    this.held.release('answers', this.takenBytes);
    this.takenBytes = 0;
  }

  private take(bytes: number): void {
    if (!this.held.tryTake('answers', bytes)) {
      throw overloaded('memory', 'The gateway holds too much that clients have not read yet');
    }
    this.takenBytes += bytes;
  }
}
