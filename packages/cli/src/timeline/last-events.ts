import type { StreamChunk } from '../../../client/src/index.ts';

/** Holds back the existing events except the last ones, because the store cannot be read from its end. */
export class LastEvents {
  readonly #count: number;
  #held: unknown[] | undefined = [];

  constructor(count: number) {
    this.#count = count;
  }

  /** @returns what to show of the events read so far; undefined if that is not known yet. */
  take(chunk: StreamChunk): StreamChunk | undefined {
    if (!this.#held) return chunk;
    this.#held = [...this.#held, ...chunk.items].slice(-this.#count);
    if (!chunk.isUpToDate) return undefined;
    const items = this.#held;
    this.#held = undefined;
    return { ...chunk, items };
  }
}
