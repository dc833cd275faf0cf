import type { APIError } from './api-error.ts';

/** The state of a live read. */
export type LiveState =
  /** It reads the existing data. */
  | { name: 'connecting' }
  /** It has read all existing data, and gets new data at once: a request is open and is being read, or is under way. */
  | { name: 'live' }
  /** The page is hidden, so nothing is read. The read continues when the page is shown. */
  | { name: 'paused' }
  /** A temporary failure. The next attempt is in this many milliseconds. */
  | { name: 'waiting'; error: APIError; retryInMs: number };

/** What every read that stays open takes. */
export interface LiveOptions {
  /** Ends the read. The iteration ends without an error. */
  signal?: AbortSignal;
  /** Called for each change of the state. */
  onState?: (state: LiveState) => void;
}

/** Reports a state once, however often it is entered. */
export class StateTeller {
  readonly #onState: ((state: LiveState) => void) | undefined;
  #name: LiveState['name'] | undefined;

  constructor(onState: ((state: LiveState) => void) | undefined) {
    this.#onState = onState;
  }

  get isLive(): boolean {
    return this.#name === 'live';
  }

  get isPaused(): boolean {
    return this.#name === 'paused';
  }

  enter(state: LiveState): void {
    const isNews = state.name === 'waiting' || state.name !== this.#name;
    this.#name = state.name;
    if (isNews) this.#onState?.(state);
  }
}
