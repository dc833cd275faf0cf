import type { APIError } from './api-error.ts';

/** What a live read is doing. */
export type LiveState =
  /** It asks for what is there. */
  | { name: 'connecting' }
  /** All that is there has been read; what is new comes at once. */
  | { name: 'live' }
  /** Something failed that may pass; the next try is in so many milliseconds. */
  | { name: 'waiting'; error: APIError; retryInMs: number };

export interface LiveOptions {
  /** Ends the read; the iteration ends without an error. */
  signal?: AbortSignal;
  /** Hears of each change of state. */
  onState?: (state: LiveState) => void;
}

/** Tells of a state once, however often it is entered. */
export class StateTeller {
  readonly #onState: ((state: LiveState) => void) | undefined;
  #name: LiveState['name'] | undefined;

  constructor(onState: ((state: LiveState) => void) | undefined) {
    this.#onState = onState;
  }

  enter(state: LiveState): void {
    const isNews = state.name === 'waiting' || state.name !== this.#name;
    this.#name = state.name;
    if (isNews) this.#onState?.(state);
  }
}
