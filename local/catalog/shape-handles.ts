import type { ChangeLog } from './change-log.ts';
import type { Shape } from './shape-definition.ts';

/** The most shapes, more than the applications of one machine need. Beyond it the oldest gets a new handle. */
const MAX_SHAPES = 1_000;

/**
 * Handles: `<digest of the shape>-<generation of the log>-<number>`. All readers of a shape have the same one, until
 * one of them falls behind the log or the log is rotated.
 */
export class ShapeHandles {
  readonly #log: ChangeLog;
  readonly #current = new Map<string, string>();
  #issued = 0;

  constructor(log: ChangeLog) {
    this.#log = log;
  }

  /** The handle for a new reader of the shape. */
  current(shape: Shape): string {
    const handle = this.#current.get(shape.digest);
    return handle !== undefined && this.isCurrent(handle, shape) ? handle : this.#mint(shape);
  }

  /** A handle other than the reader's: after a 409 a client takes a response with its old handle for a stale one. */
  insteadOf(handle: string, shape: Shape): string {
    const current = this.current(shape);
    return current === handle ? this.#mint(shape) : current;
  }

  /** Whether the handle belongs to this shape and this generation. */
  isCurrent(handle: string, shape: Shape): boolean {
    const [, digest, generation] = /^([0-9a-f]+)-([0-9a-f]+)-[0-9]+$/.exec(handle) ?? [];
    return digest === shape.digest && generation === this.#log.generation;
  }

  #mint(shape: Shape): string {
    this.#issued += 1;
    const handle = `${shape.digest}-${this.#log.generation}-${this.#issued}`;
    this.#current.delete(shape.digest);
    this.#current.set(shape.digest, handle);
    if (this.#current.size > MAX_SHAPES) this.#current.delete(this.#current.keys().next().value!);
    return handle;
  }
}
