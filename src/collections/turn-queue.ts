/**
 * Work of many requests that is put off to the end of this turn of the event loop, when all sockets have
 * been read that had something, and is then done in one go. One kind of work after another for each socket
 * makes each of them dearer: the processor has forgotten its code and data by the next, and a peer on the
 * same machine is woken for every single write. A fifth less processor time for a read (docs/performance.md).
 */
export class TurnQueue<Item> {
  private readonly work: (item: Item) => void;
  private readonly isHeldUp: () => boolean;
  private items: Item[] = [];

  /**
   * `work` is called for each item in the order in which they were added, and must not throw. `isHeldUp` is asked
   * at the end of each turn whether all of it is to wait for another one.
   */
  constructor(work: (item: Item) => void, isHeldUp: () => boolean = () => false) {
    this.work = work;
    this.isHeldUp = isHeldUp;
  }

  add(item: Item): void {
    if (this.items.push(item) === 1) setImmediate(this.workOff);
  }

  private readonly workOff = (): void => {
    if (this.isHeldUp()) {
      setImmediate(this.workOff);
      return;
    }
    const { items } = this;
    // What is added meanwhile belongs to the next turn.
    this.items = [];
    for (const item of items) this.work(item);
  };
}
