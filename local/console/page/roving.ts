/** The part of a virtual list that this needs. */
interface Revealing {
  reveal(index: number): HTMLElement | undefined;
  redraw(): void;
}

/**
 * Makes a long list one stop of the Tab key: the arrows, Page Up and Down, Home and End go from item to item, also to those
 * that are not in the page yet. `selector` finds the one control of an item that takes the focus.
 */
export class Roving {
  readonly #list: Revealing;
  readonly #selector: string;
  readonly #keys: () => readonly string[];
  #current: string | undefined;

  constructor(
    element: HTMLElement,
    list: Revealing,
    selector: string,
    keys: () => readonly string[],
  ) {
    this.#list = list;
    this.#selector = selector;
    this.#keys = keys;
    element.addEventListener('keydown', (event) => this.#onKey(event));
    element.addEventListener('focusin', (event) => this.#onFocus(event.target as HTMLElement));
  }

  /** Sets the Tab stop of an item. The first item has it until another had the focus. */
  update(item: HTMLElement, key: string, index: number): void {
    const isStop = this.#current === undefined ? index === 0 : this.#current === key;
    const control = item.querySelector<HTMLElement>(this.#selector);
    item.dataset.key = key;
    if (control) control.tabIndex = isStop ? 0 : -1;
  }

  /** Makes this item the Tab stop, or the first one if there is no such item. */
  set(key: string | undefined): void {
    this.#current = key !== undefined && this.#keys().includes(key) ? key : undefined;
    this.#list.redraw();
  }

  focus(key: string): void {
    this.#focusAt(this.#keys().indexOf(key));
  }

  #onFocus(target: HTMLElement): void {
    const key = target.closest<HTMLElement>('[data-key]')?.dataset.key;
    if (key !== undefined && key !== this.#current && target.matches(this.#selector)) this.set(key);
  }

  #onKey(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (!target.matches(this.#selector)) return;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const keys = this.#keys();
    const at = keys.indexOf(target.closest<HTMLElement>('[data-key]')?.dataset.key ?? '');
    const last = keys.length - 1;
    const to = { Home: 0, End: last }[event.key] ?? at + (steps[event.key] ?? 0);
    if (at < 0 || to === at) return;
    event.preventDefault();
    this.#focusAt(Math.max(0, Math.min(last, to)));
  }

  #focusAt(index: number): void {
    this.#list.reveal(index)?.querySelector<HTMLElement>(this.#selector)?.focus();
  }
}
