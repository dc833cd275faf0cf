/** Holds events to the promise of a timeline: 0, 1, 2 … each once, and none left out. */
export class Sequence {
  #next = 0;

  /**
   * What the number of the next event says.
   * @returns {{ kind: 'next' } | { kind: 'repeat' } | { kind: 'gap', from: number, to: number }}
   */
  judge(seq) {
    if (seq < this.#next) return { kind: 'repeat' };
    const from = this.#next;
    this.#next = seq + 1;
    return seq === from ? { kind: 'next' } : { kind: 'gap', from, to: seq - 1 };
  }
}
