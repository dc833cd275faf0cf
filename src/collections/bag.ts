/** What is kept in a bag: it knows its place there, and so is in one bag at a time. */
export interface BagItem {
  /** Kept by the bag; undefined while it is in none. */
  bagIndex?: number | undefined;
}

/**
 * Items in no order, for what comes and goes with every request. A `Set` is the wrong place for those:
 * each time it outgrows its table, V8 leaves the old one pointing to the next (for iterators under way,
 * `OrderedHashTable` in its sources); as soon as one of that chain is old, every later one lives until
 * the next full collection, and with it all requests that were open when it was outgrown.
 */
export class Bag<Item extends BagItem> {
  private readonly items: Item[] = [];

  get size(): number {
    return this.items.length;
  }

  /** Any one of them. */
  get first(): Item | undefined {
    return this.items[0];
  }

  add(item: Item): void {
    item.bagIndex = this.items.push(item) - 1;
  }

  /** Does nothing where the item is in no bag. */
  delete(item: Item): void {
    const { bagIndex } = item;
    if (bagIndex === undefined) return;
    const last = this.items.pop();
    if (last && last !== item) {
      this.items[bagIndex] = last;
      last.bagIndex = bagIndex;
    }
    item.bagIndex = undefined;
  }

  /** Takes all of them out. */
  takeAll(): Item[] {
    const taken = this.items.splice(0);
    for (const item of taken) item.bagIndex = undefined;
    return taken;
  }

  /** Those that are in it now; the bag may change meanwhile. */
  snapshot(): Item[] {
    return [...this.items];
  }
}
