/** An item that knows its place in the list. It can be in one list at a time. */
export interface UnorderedListItem {
  /** Set by the list; undefined while the item is in no list. */
  listIndex?: number | undefined;
}

/**
 * A list without order, for items that are added and removed with every request. A `Set` keeps garbage alive there:
 * when a `Set` grows, V8 leaves the old table pointing to the new one (`OrderedHashTable` in its sources). Once one old
 * table is in the old generation, all later ones live until the next full collection, with all requests in them.
 */
export class UnorderedList<Item extends UnorderedListItem> {
  private readonly items: Item[] = [];

  get size(): number {
    return this.items.length;
  }

  /** Any item of the list. */
  get first(): Item | undefined {
    return this.items[0];
  }

  add(item: Item): void {
    item.listIndex = this.items.push(item) - 1;
  }

  /** Does nothing if the item is in no list. */
  delete(item: Item): void {
    const { listIndex } = item;
    if (listIndex === undefined) return;
    const last = this.items.pop();
    if (last && last !== item) {
      this.items[listIndex] = last;
      last.listIndex = listIndex;
    }
    item.listIndex = undefined;
  }

  /** The items, which must stay in the list meanwhile. */
  [Symbol.iterator](): Iterator<Item> {
    return this.items[Symbol.iterator]();
  }

  /** A copy, so that the caller may change the list while it iterates. */
  snapshot(): Item[] {
    return [...this.items];
  }
}
