import type { HeldBytes } from '../../memory/held-bytes.ts';
import { overloaded } from '../../errors/gateway-error.ts';
import { ByteLog } from './byte-log.ts';

/** The largest answer that is collected for several readers; beyond it each sends its own request. */
export const MAX_SHARED_BODY_BYTES = 1_048_576;

/**
 * The body of an answer for several readers: collected first, and held until the last of them has taken it. Room for
 * it is taken when its head has come, as far as that tells its length: those who would not all fit are turned away
 * before their bodies are there.
 */
export class SharedBody {
  /** Readers that have still to take it. */
  private readers = 0;
  private readonly held: HeldBytes;
  private readonly log = new ByteLog<undefined>();
  private takenBytes = 0;

  /** Throws `overloaded` where the budget has no room for the length that the answer declares, if it does. */
  constructor(held: HeldBytes, declaredBytes: number | undefined) {
    this.held = held;
    this.take(declaredBytes ?? 0);
  }

  /** Adds a piece. Throws `overloaded`. */
  add(piece: Buffer): void {
    this.log.append(piece, () => undefined);
    if (this.log.heldBytes > this.takenBytes) this.take(this.log.heldBytes - this.takenBytes);
  }

  /** All of it, in one piece; undefined where it is empty. */
  whole(): Buffer | undefined {
    const { log } = this;
    if (log.end === 0) return undefined;
    const first = log.view(0);
    return first.length === log.end ? first : log.copy(0, log.end);
  }

  /** So many readers get it; each calls `leave` when it has taken it. */
  giveTo(readers: number): void {
    this.readers = readers;
    if (readers === 0) this.release();
  }

  leave(): void {
    if (--this.readers === 0) this.release();
  }

  /** Gives back what it has taken of the budget. */
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
