import type { LiveState } from './live-state.ts';

/** How the timeline is read: with the agent's events coming, not for now, or not while the page is hidden. */
type Reading = 'listening' | 'away' | 'paused';

/**
 * The time that an agent has to begin its answer. It runs while the timeline is read. A hidden page stops it, and so
 * does an outage for a limited time.
 */
export class Patience {
  readonly #timeoutMs: number;
  readonly #onOver: () => void;
  #leftMs: number;
  #awayLeftMs: number;
  /** Until the timeline is read, as while its place is searched for, the time runs. */
  #reading: Reading = 'listening';
  #sinceMs = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `awayMs` is how much of the outages does not count. `onOver` is called when the time is over. */
  constructor(timeoutMs: number, awayMs: number, onOver: () => void) {
    this.#timeoutMs = this.#leftMs = timeoutMs;
    this.#awayLeftMs = awayMs;
    this.#onOver = onOver;
    this.#run();
  }

  readonly onState = (state: LiveState): void => {
    this.#spend();
    this.#reading = readingOf(state);
    this.#run();
  };

  /** The agent has the whole time again. */
  restart(): void {
    this.#spend();
    this.#leftMs = this.#timeoutMs;
    this.#run();
  }

  end(): void {
    this.#reading = 'paused';
    clearTimeout(this.#timer);
  }

  #spend(): void {
    clearTimeout(this.#timer);
    const nowMs = performance.now();
    let spentMs = nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    if (this.#reading === 'paused') return;
    if (this.#reading === 'away') {
      const freeMs = Math.min(spentMs, this.#awayLeftMs);
      this.#awayLeftMs -= freeMs;
      spentMs -= freeMs;
    }
    this.#leftMs -= spentMs;
  }

  #run(): void {
    if (this.#reading === 'paused') return;
    const freeMs = this.#reading === 'away' ? this.#awayLeftMs : 0;
    this.#timer = setTimeout(this.#onOver, Math.max(0, this.#leftMs) + freeMs);
  }
}

function readingOf(state: LiveState): Reading {
  if (state.name === 'live') return 'listening';
  if (state.name === 'paused') return 'paused';
  // An agent without a timeline has not begun.
  return state.name === 'waiting' && state.error.status === 404 ? 'listening' : 'away';
}
