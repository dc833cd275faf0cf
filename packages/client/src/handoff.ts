/** Passes values from one side to the other. Each side waits for the other. */
export class Handoff<T> {
  #offered: { value: T; taken: () => void } | undefined;
  #wake: (() => void) | undefined;
  #end: { error: unknown } | undefined;

  /** Resolves when the other side asks for the next value, or has stopped. */
  offer(value: T): Promise<void> {
    return new Promise((resolve) => {
      if (this.#end) return resolve();
      this.#offered = { value, taken: resolve };
      this.#wake?.();
    });
  }

  /** Ends the values. The other side gets the error, if there is one. */
  end(error?: unknown): void {
    this.#end ??= { error };
    this.#offered?.taken();
    this.#wake?.();
  }

  /** The values, until the end. Throws the error of `end`. */
  async *values(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const offered = this.#offered;
      if (offered) {
        yield offered.value;
        this.#offered = undefined;
        offered.taken();
      } else if (this.#end) {
        if (this.#end.error !== undefined) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }
}
