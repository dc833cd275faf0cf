import type { AgentGateway, LiveState } from '@agent-gateway/client';

/** What every hook tells about its read. */
export interface ReadState {
  /**
   * `live` as soon as all existing data has been read. `waiting` after a failure that may pass. `paused` while the page
   * is hidden.
   */
  connection: LiveState['name'];
  /** The failure of the last call, or the one that ended the read. */
  error: Error | undefined;
}

/** Several events within this time make one render. */
const RENDER_MS = 16;
const stores = new WeakMap<AgentGateway, Map<string, LiveStore<ReadState>>>();

/** The store of that name, which all hooks of a page share, so that they share its read. */
export function storeOf<Store extends LiveStore<ReadState>>(
  gateway: AgentGateway,
  name: string,
  make: () => Store,
): Store {
  const own = stores.get(gateway) ?? new Map<string, LiveStore<ReadState>>();
  stores.set(gateway, own);
  const store = (own.get(name) as Store | undefined) ?? make();
  own.set(name, store);
  store.forget = () => own.get(name) === store && own.delete(name);
  return store;
}

/** A state that a live read changes, for `useSyncExternalStore`. It reads while somebody subscribes. */
export abstract class LiveStore<State extends ReadState> {
  /** Called when nobody subscribes any more. */
  forget: () => void = () => undefined;
  readonly #empty: State;
  #state: State;
  readonly #listeners = new Set<() => void>();
  #reading: AbortController | undefined;
  #rendersSoon = false;

  constructor(empty: State) {
    this.#empty = this.#state = empty;
  }

  /** Reads on until the signal aborts, and calls `changed` after changes. Rejects with the error that ended it. */
  protected abstract read(signal: AbortSignal, onState: (state: LiveState) => void): Promise<void>;
  /** The state after what was read. */
  protected abstract next(state: State): State;

  readonly getState = (): State => this.#state;
  /** A server reads nothing. */
  readonly getServerState = (): State => this.#empty;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#reading ??= this.#begin();
    return () => {
      this.#listeners.delete(listener);
      // In its strict mode React subscribes again at once, and so does a page that changes.
      setTimeout(() => this.#endUnlessUsed());
    };
  };

  /** Renders soon. */
  protected changed(): void {
    if (this.#rendersSoon) return;
    this.#rendersSoon = true;
    setTimeout(() => {
      this.#rendersSoon = false;
      this.set({});
    }, RENDER_MS);
  }

  /** Renders now. */
  protected set(change: Partial<ReadState>): void {
    this.#state = this.next({ ...this.#state, ...change });
    for (const listener of this.#listeners) listener();
  }

  #begin(): AbortController {
    const reading = new AbortController();
    const { signal } = reading;
    const onState = ({ name }: LiveState): void => {
      if (!signal.aborted) this.set({ connection: name });
    };
    this.read(signal, onState).catch((error: unknown) => {
      if (!signal.aborted) this.set({ error: error as Error });
    });
    return reading;
  }

  #endUnlessUsed(): void {
    if (this.#listeners.size > 0) return;
    this.#reading?.abort();
    this.#reading = undefined;
    this.forget();
  }
}
