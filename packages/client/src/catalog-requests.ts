import type { StateTeller } from './live-state.ts';
import { isPageHidden, watchPage } from './page-watch.ts';
import { ReadRequests } from './read-requests.ts';
import type { Transport } from './transport.ts';

/** The engine holds a long-poll for 20 s. */
const SILENCE_MS = 60_000;

/**
 * The requests of a catalog's read. The protocol's client knows nothing of hidden pages, dead connections and ending
 * tokens: to it such a request only takes longer.
 */
export class CatalogRequests {
  readonly #transport: Transport;
  readonly #states: StateTeller;
  readonly #isLive: boolean;
  readonly #requests: ReadRequests;
  /** Ends the present request, which is then sent again. */
  #turn = new AbortController();
  #shown = Promise.withResolvers<void>();
  /** Whether the read was live before it had to begin again. */
  #wasLive = false;

  constructor(transport: Transport, states: StateTeller, isLive: boolean) {
    this.#transport = transport;
    this.#states = states;
    this.#isLive = isLive;
    this.#requests = new ReadRequests(transport.fetch, SILENCE_MS);
  }

  /** Watches the page until the returned function is called. */
  watch(): () => void {
    return watchPage({
      onHidden: () => this.#hide(),
      onWake: () => this.#wake(),
      onTick: () => undefined,
    });
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const isLongPoll = new URL(input as string).searchParams.get('live') === 'true';
    for (;;) {
      await this.#untilShown(init.signal);
      const turn = (this.#turn = new AbortController());
      const signals = init.signal ? [turn.signal, init.signal] : [turn.signal];
      const own = { ...init, signal: AbortSignal.any(signals) };
      this.#requests.begin();
      try {
        if (!isLongPoll) return await this.#whole(input, own);
        if (this.#requests.areInDoubt) await this.#whole(atOnce(input as string), own);
        return await this.#longPoll(input, own, turn);
      } catch (error) {
        if (init.signal?.aborted === true) throw error;
        if (!turn.signal.aborted && !this.#isUnproven(error)) throw error;
      }
    }
  };

  /**
   * A token that expires ends a long-poll with a 401. The long-poll is repeated with a new token before that, so that
   * the catalog stays live.
   */
  async #longPoll(
    input: Parameters<typeof fetch>[0],
    init: RequestInit,
    turn: AbortController,
  ): Promise<Response> {
    const renewInMs = await this.#transport.renewInMs(init.signal);
    const timer = renewInMs === undefined ? undefined : setTimeout(() => turn.abort(), renewInMs);
    // The client long-polls only after it has read everything.
    if (this.#wasLive) this.#states.enter({ name: 'live' });
    this.#wasLive = false;
    try {
      return await this.#whole(input, init);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The response with its whole body, so that nothing ends it behind its head. */
  async #whole(input: Parameters<typeof fetch>[0], init: RequestInit): Promise<Response> {
    const response = await this.#requests.fetch(input, init);
    return response.body ? new Response(await response.arrayBuffer(), response) : response;
  }

  /** Whether the connection did not prove that it lives. The next request tries another one. */
  #isUnproven(error: unknown): boolean {
    const isSilent = (error as Error | undefined)?.name === 'TimeoutError';
    if (!isSilent || !this.#requests.areInDoubt) return false;
    this.#transport.forgetPendingToken();
    this.#interrupt('connecting');
    return true;
  }

  #interrupt(name: 'connecting' | 'paused'): void {
    this.#wasLive ||= this.#states.isLive;
    this.#states.enter({ name });
  }

  #hide(): void {
    if (!this.#isLive) return;
    this.#interrupt('paused');
    this.#turn.abort();
  }

  /** The connection may have died. A request that has just begun is left alone. */
  #wake(): void {
    this.#shown.resolve();
    if (this.#states.isPaused && !isPageHidden()) this.#states.enter({ name: 'connecting' });
    if (!this.#requests.areSilent) return;
    this.#requests.doubt();
    this.#turn.abort();
  }

  async #untilShown(signal: AbortSignal | null | undefined): Promise<void> {
    if (!this.#isLive || !isPageHidden()) return;
    this.#interrupt('paused');
    while (isPageHidden()) {
      this.#shown = Promise.withResolvers();
      const leave = (): void => this.#shown.resolve();
      signal?.addEventListener('abort', leave, { once: true });
      await this.#shown.promise;
      signal?.removeEventListener('abort', leave);
      signal?.throwIfAborted();
    }
    if (this.#requests.areSilent) this.#requests.doubt();
    this.#states.enter({ name: 'connecting' });
  }
}

/** The same question without the wait for changes. */
function atOnce(input: string): string {
  const url = new URL(input);
  for (const name of ['live', 'cursor']) url.searchParams.delete(name);
  return url.href;
}
