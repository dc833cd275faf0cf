export interface VirtualListOptions<T> {
  /** The scrolling element. */
  scroller: HTMLElement;
  /** The parent of the elements. */
  list: HTMLElement;
  keyOf: (item: T) => string;
  /** Creates the element of an item. */
  render: (item: T) => HTMLElement;
  /** Updates an element in place. */
  update: (element: HTMLElement, item: T, index: number) => void;
  /** The assumed height in pixels of an item that was never visible. */
  estimatePx: number;
}

const OVERSCAN_PX = 400;
const NEAR_END_PX = 80;
/** Heights settle in two rounds. More rounds would only hide a mistake. */
const MAX_ROUNDS = 4;

/** A list of any length whose visible items alone are in the page. Heights of items may differ. */
export class VirtualList<T> {
  readonly #options: VirtualListOptions<T>;
  readonly #heights = new Map<string, number>();
  #items: readonly T[] = [];
  #shown = new Map<string, HTMLElement>();
  #isPlanned = false;

  constructor(options: VirtualListOptions<T>) {
    this.#options = options;
    options.scroller.addEventListener('scroll', () => this.#plan(), { passive: true });
    new ResizeObserver(() => this.#plan()).observe(options.scroller);
  }

  get isAtEnd(): boolean {
    const { scrollTop, scrollHeight, clientHeight } = this.#options.scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  }

  /** Shows these items, in this order. */
  show(items: readonly T[]): void {
    this.#items = items;
    this.#plan();
  }

  /** Draws the visible items again. */
  redraw(): void {
    this.#plan();
  }

  /** Forgets the measured heights. */
  clear(): void {
    this.#heights.clear();
    for (const element of this.#shown.values()) element.remove();
    this.#shown = new Map();
    this.show([]);
  }

  scrollToEnd(): void {
    this.#draw();
    const { scroller } = this.#options;
    // Items that become visible may be higher than assumed.
    for (let round = 0; round < MAX_ROUNDS; round++) {
      scroller.scrollTop = scroller.scrollHeight;
      this.#draw();
    }
  }

  /** Scrolls to an item and returns its element. */
  reveal(index: number): HTMLElement | undefined {
    const item = this.#items[index];
    if (item === undefined) return undefined;
    const key = this.#options.keyOf(item);
    if (!this.#shown.has(key)) {
      this.#options.scroller.scrollTop = this.#offsetOf(index);
      this.#draw();
    }
    const element = this.#shown.get(key);
    element?.scrollIntoView({ block: 'nearest' });
    this.#draw();
    return element;
  }

  /** Draws at most once per frame, or at once on a hidden page, which has no frames. */
  #plan(): void {
    if (document.hidden) return this.#draw();
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    requestAnimationFrame(() => {
      this.#isPlanned = false;
      this.#draw();
    });
  }

  #draw(): void {
    // Elements of a hidden list have no height.
    if (this.#options.list.hidden) return;
    for (let round = 0; round < MAX_ROUNDS; round++) if (!this.#drawOnce()) return;
  }

  /** @returns whether a height turned out to be another one. */
  #drawOnce(): boolean {
    const { scroller, list, keyOf, render, update } = this.#options;
    const from = scroller.scrollTop - OVERSCAN_PX;
    const to = scroller.scrollTop + scroller.clientHeight + OVERSCAN_PX;
    const wanted = new Map<string, HTMLElement>();
    let [offset, before, after] = [0, 0, 0];
    for (const [index, item] of this.#items.entries()) {
      const height = this.#heightOf(item);
      if (offset + height < from) before += height;
      else if (offset > to) after += height;
      else {
        const element = this.#shown.get(keyOf(item)) ?? render(item);
        update(element, item, index);
        wanted.set(keyOf(item), element);
      }
      offset += height;
    }
    for (const [key, element] of this.#shown) if (!wanted.has(key)) element.remove();
    // Only misplaced elements are moved, because moving an element takes its focus away.
    for (const [index, element] of [...wanted.values()].entries()) {
      const there = list.children[index];
      if (there !== element) list.insertBefore(element, there ?? null);
    }
    list.style.paddingTop = `${before}px`;
    list.style.paddingBottom = `${after}px`;
    this.#shown = wanted;
    return this.#measure();
  }

  #measure(): boolean {
    let isOther = false;
    for (const [key, element] of this.#shown) {
      const height = element.offsetHeight;
      if (Math.abs(height - (this.#heights.get(key) ?? -1)) < 1) continue;
      this.#heights.set(key, height);
      isOther = true;
    }
    return isOther;
  }

  #offsetOf(index: number): number {
    return this.#items.slice(0, index).reduce((sum, item) => sum + this.#heightOf(item), 0);
  }

  #heightOf(item: T): number {
    return this.#heights.get(this.#options.keyOf(item)) ?? this.#options.estimatePx;
  }
}
