import type { APIError } from './api-error.ts';
import type { StateTeller } from './live-state.ts';
import { isPageHidden, watchPage } from './page-watch.ts';
import { pause } from './pause.ts';
import type { ReadRequests } from './read-requests.ts';

export interface ReadTurnsOptions {
  requests: ReadRequests;
  states: StateTeller;
  /** Whether the read follows new data. One that has an end is read to it in a hidden page too. */
  isLive: boolean;
  /** Whether what has arrived is being consumed. */
  isTaking: () => boolean;
  signal: AbortSignal;
}

/** After so many ticks in which nothing was open, the read begins again. */
const MAX_IDLE_TICKS = 2;

/**
 * When a reader reads: never in a hidden page, again after a wake-up that may have found its connection dead, and again if
 * nothing is open. Each turn is a read of its own, with a signal that ends it.
 */
export class ReadTurns {
  readonly #options: ReadTurnsOptions;
  #turn = new AbortController();
  /** Ends the present pause. Undefined during a turn, and while the server has named the time to wait. */
  #retry: AbortController | undefined;
  #idleTicks = 0;

  constructor(options: ReadTurnsOptions) {
    this.#options = options;
  }

  /** Watches the page until the returned function is called. */
  watch(): () => void {
    return watchPage({
      onHidden: () => this.#hide(),
      onWake: () => this.#wake(),
      onTick: () => this.#tick(),
    });
  }

  /** Begins a turn when the page is shown. Rejects with the signal's reason. */
  async next(): Promise<AbortSignal> {
    const { requests, states, signal } = this.#options;
    signal.throwIfAborted();
    if (this.#isHidden()) await this.#shown();
    this.#turn = new AbortController();
    this.#idleTicks = 0;
    requests.begin();
    // After a wake-up the state stays as it is while the connection proves itself.
    if (!states.isLive) states.enter({ name: 'connecting' });
    return AbortSignal.any([signal, this.#turn.signal]);
  }

  /** Ends the turn. The next one begins at once. */
  end(): void {
    this.#turn.abort();
  }

  /** Whether the turn was ended, and has not failed. */
  get isEnded(): boolean {
    return this.#turn.signal.aborted;
  }

  /** Waits after a failure. What wakes the page ends the wait, unless the server has named a time. */
  async waitAfter(error: APIError, retryInMs: number): Promise<void> {
    const { signal, states } = this.#options;
    this.end();
    states.enter({ name: 'waiting', error, retryInMs });
    const retry = new AbortController();
    if (error.status === undefined) this.#retry = retry;
    const ended = AbortSignal.any([signal, retry.signal]);
    await pause(retryInMs, ended).catch(() => signal.throwIfAborted());
    this.#retry = undefined;
  }

  #isHidden(): boolean {
    return this.#options.isLive && isPageHidden();
  }

  #hide(): void {
    if (!this.#options.isLive) return;
    this.#options.states.enter({ name: 'paused' });
    this.end();
  }

  async #shown(): Promise<void> {
    const { requests, signal, states } = this.#options;
    states.enter({ name: 'paused' });
    while (this.#isHidden()) {
      this.#retry = new AbortController();
      await aborted(AbortSignal.any([signal, this.#retry.signal]));
      signal.throwIfAborted();
    }
    this.#retry = undefined;
    if (requests.areSilent) requests.doubt();
  }

  /** The connection may have died. A turn that has heard something lately, or has just begun, is left alone. */
  #wake(): void {
    const { requests, states } = this.#options;
    if (states.isPaused && !this.#isHidden()) states.enter({ name: 'connecting' });
    if (!requests.areSilent && !this.#retry) return;
    if (requests.areSilent) requests.doubt();
    this.#retry?.abort();
    this.end();
  }

  /** Ends a turn in which the protocol's client waits for nothing. */
  #tick(): void {
    const { requests, states, isTaking } = this.#options;
    const isReading = requests.areOpen || isTaking() || this.isEnded;
    this.#idleTicks = isReading ? 0 : this.#idleTicks + 1;
    if (this.#idleTicks > 0 && states.isLive) states.enter({ name: 'connecting' });
    if (this.#idleTicks >= MAX_IDLE_TICKS) this.end();
  }
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
