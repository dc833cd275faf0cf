import type { Invocation } from '../../../packages/client/src/index.ts';

/** The invocations of a list that its page has cancelled and that have not ended yet. */
export class Cancels {
  /** As they were when they were cancelled. */
  readonly #sent = new Map<string, Invocation>();

  add(invocation: Invocation): void {
    this.#sent.set(invocation.id, invocation);
  }

  has(id: string): boolean {
    return this.#sent.has(id);
  }

  delete(id: string): void {
    this.#sent.delete(id);
  }

  /** When the list shows something else, an invocation that is missing has not ended. */
  forget(): void {
    this.#sent.clear();
  }

  /** Those that have ended, each once. `unfinished` are all that the list still has. */
  takeEnded(unfinished: readonly Pick<Invocation, 'id'>[]): Invocation[] {
    const ids = new Set(unfinished.map(({ id }) => id));
    const ended = [...this.#sent.values()].filter(({ id }) => !ids.has(id));
    for (const { id } of ended) this.#sent.delete(id);
    return ended;
  }

  /** Whether a handler has been tried again after its cancel. One attempt may have been under way. */
  isUnnoticed({ id, tries }: Pick<Invocation, 'id' | 'tries'>): boolean {
    const then = this.#sent.get(id);
    return then !== undefined && tries > then.tries + 1;
  }
}
