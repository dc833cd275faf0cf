import { randomBytes } from 'node:crypto';
import type { Row, TableDefinition } from './tables.ts';

/** One changed row. `old` is missing on an insert, `new` on a delete. */
export interface RowChange {
  readonly table: TableDefinition;
  readonly old?: Row;
  readonly new?: Row;
}

export interface LoggedChange extends RowChange {
  readonly lsn: number;
}

/** A parked live read that waits for the next changes. */
export interface ChangeFollower {
  changed(change: LoggedChange): void;
  rotated(): void;
}

/**
 * The latest changes, numbered without a gap. They live only in memory: each start has a new generation, which
 * invalidates every earlier handle (409, must-refetch).
 */
export class ChangeLog {
  readonly #maxChanges: number;
  readonly #followers = new Set<ChangeFollower>();
  readonly #changes: LoggedChange[] = [];
  #generation = newGeneration();
  #lsn = 0;
  #base = 0;

  /** @param maxChanges how many changes a reader may lag behind before it must fetch all again */
  constructor(maxChanges: number) {
    this.#maxChanges = maxChanges;
  }

  get generation(): string {
    return this.#generation;
  }

  /** The number of the last change. */
  get lsn(): number {
    return this.#lsn;
  }

  /** The number of the last change that was discarded: the oldest offset still served. */
  get base(): number {
    return this.#base;
  }

  append(change: RowChange): void {
    const logged: LoggedChange = { ...change, lsn: ++this.#lsn };
    this.#changes.push(logged);
    if (this.#changes.length > this.#maxChanges) {
      this.#changes.shift();
      this.#base += 1;
    }
    // A follower leaves the set during the iteration, which a Set allows.
    for (const follower of this.#followers) follower.changed(logged);
  }

  /** The changes after `lsn`, which must not be below `base`. */
  since(lsn: number): LoggedChange[] {
    return this.#changes.slice(lsn - this.#base);
  }

  /** Invalidates every handle, like Electric when it drops a shape. */
  rotate(): void {
    this.#generation = newGeneration();
    for (const follower of this.#followers) follower.rotated();
  }

  /** @returns the way to stop following */
  follow(follower: ChangeFollower): () => void {
    this.#followers.add(follower);
    return () => {
      this.#followers.delete(follower);
    };
  }
}

function newGeneration(): string {
  return randomBytes(6).toString('hex');
}
