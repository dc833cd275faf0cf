/** Watches the gapless `seq` of a timeline's events. */
export class Sequence {
  #next: number | undefined;

  /** @returns what is wrong with the next event's number, in words; undefined where nothing is. */
  judge(seq: unknown): string | undefined {
    if (typeof seq !== 'number' || !Number.isInteger(seq)) return undefined;
    const expected = this.#next ?? seq;
    this.#next = Math.max(expected, seq + 1);
    if (seq > expected) {
      const missing =
        seq === expected + 1 ? `event ${expected} is` : `events ${expected} to ${seq - 1} are`;
      return `Gap: ${missing} missing.`;
    }
    return seq < expected ? `Event ${seq} comes again, or out of order.` : undefined;
  }
}
