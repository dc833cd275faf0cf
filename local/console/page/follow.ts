import { byId } from './element.ts';

/** Something in the scrolled region, with an end that new things come to. */
export interface Followed {
  readonly isAtEnd: boolean;
  scrollToEnd(): void;
}

/** Keeps the newest in sight: a reader who scrolls up stays there, and one who scrolls to the end follows again. */
export class Follow {
  readonly #box = byId<HTMLInputElement>('follow');
  readonly #newest = byId('newest');
  /** Undefined where nothing is followed. */
  readonly #shown: () => Followed | undefined;

  constructor(scroller: HTMLElement, shown: () => Followed | undefined) {
    this.#shown = shown;
    this.#newest.addEventListener('click', () => this.set(true));
    this.#box.addEventListener('input', () => this.set(this.#box.checked));
    scroller.addEventListener('wheel', () => this.#onScroll(), { passive: true });
    scroller.addEventListener('scroll', () => this.#onScroll(), { passive: true });
  }

  set(isOn: boolean): void {
    this.#box.checked = isOn;
    this.keep();
  }

  /** Goes to the end again, after something has changed. */
  keep(): void {
    if (!this.#box.checked) return;
    this.#newest.hidden = true;
    this.#shown()?.scrollToEnd();
  }

  /** Goes to what has arrived, or says that there is something. */
  take(): void {
    if (this.#box.checked) this.keep();
    else this.#newest.hidden = false;
  }

  #onScroll(): void {
    const isAtEnd = this.#shown()?.isAtEnd;
    if (isAtEnd === undefined || isAtEnd === this.#box.checked) return;
    this.#box.checked = isAtEnd;
    if (isAtEnd) this.#newest.hidden = true;
  }
}
