import type { ChangeLog } from './change-log.ts';
import type { Shape } from './shape-request.ts';

/**
 * Handles: `<digest of the shape>-<generation of the log>-<number>`. Each is handed out once, since
 * a client that was told 409 takes an answer with the expired handle for a stale cache entry.
 */
export class ShapeHandles {
  readonly #log: ChangeLog;
  #issued = 0;

  constructor(log: ChangeLog) {
    this.#log = log;
  }

  mint(shape: Shape): string {
    this.#issued += 1;
    return `${shape.digest}-${this.#log.generation}-${this.#issued}`;
  }

  /** Whether a reader with this handle can go on after `lsn` without a gap. */
  isCurrent(handle: string, shape: Shape, lsn: number): boolean {
    const [, digest, generation] = /^([0-9a-f]+)-([0-9a-f]+)-[0-9]+$/.exec(handle) ?? [];
    return (
      digest === shape.digest &&
      generation === this.#log.generation &&
      lsn >= this.#log.base &&
      lsn <= this.#log.lsn
    );
  }
}
