/** An item that knows its place in the list. It can be in one list at a time. */
export interface TimedItem<Item> {
  /** Set by the list; undefined while the item is in no list. */
  timedPlace?: TimedPlace<Item> | undefined;
}

/** An entry of the list. */
export interface TimedPlace<Item> {
  readonly item: Item;
  /** The time in milliseconds at which the item was added. */
  readonly sinceMs: number;
  before: TimedPlace<Item> | undefined;
  behind: TimedPlace<Item> | undefined;
}

/**
 * A linked list of items in the order in which they were added. Every response enters and leaves one. A `Map` would make V8
 * copy its table again and again and keep old entries alive; see `UnorderedList`.
 */
export class TimedList<Item extends TimedItem<Item>> {
  private first: TimedPlace<Item> | undefined;
  private last: TimedPlace<Item> | undefined;

  /** The item that has been in the list for longest, and since when. */
  get oldest(): Readonly<Pick<TimedPlace<Item>, 'item' | 'sinceMs'>> | undefined {
    return this.first;
  }

  /** Does nothing if the item is in the list. */
  add(item: Item, nowMs: number): void {
    if (item.timedPlace) return;
    const place: TimedPlace<Item> = { item, sinceMs: nowMs, before: this.last, behind: undefined };
    item.timedPlace = place;
    if (this.last) this.last.behind = place;
    else this.first = place;
    this.last = place;
  }

  /** Does nothing if the item is in no list. */
  delete(item: Item): void {
    const place = item.timedPlace;
    if (!place) return;
    item.timedPlace = undefined;
    const { before, behind } = place;
    if (before) before.behind = behind;
    else this.first = behind;
    if (behind) behind.before = before;
    else this.last = before;
    // A removed entry must not keep later ones alive.
    place.before = place.behind = undefined;
  }
}
