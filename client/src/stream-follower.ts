import type { StreamOptions } from '@durable-streams/client';
import { isPassing, type APIError } from './api-error.ts';
import { readError } from './client-error.ts';
import type { StateTeller } from './live-state.ts';
import { pause, pauseMs } from './pause.ts';
import { withStallGuard } from './stall-guard.ts';
import type { Transport } from './transport.ts';

/** Some items of a stream, and the offset behind them. */
export interface Batch {
  items: readonly unknown[];
  offset: string;
}

export interface StreamRead {
  path: string;
  /** `-1` for the start, `now`, or an offset. */
  from: string;
  /** How to wait for what is new; false ends behind what is there. */
  live: 'sse' | 'long-poll' | false;
  /** Take a stream that is not there for one that is yet to come. */
  waitForStream: boolean;
  isRenewable: boolean;
  /** The next batch waits until this has fulfilled. */
  onBatch: (batch: Batch) => Promise<void>;
  states: StateTeller;
  signal: AbortSignal;
}

/** A long-poll parks for 30 s at most, and an event stream says something within 60 s. */
const SILENCE_MS = 90_000;
const WAIT_FOR_STREAM_MS = 500;
/** A live read that ends sooner, without anything new, counts as a failure. */
const SHORT_READ_MS = 1_000;
/** An answer that cannot be parsed in the same place again and again will not get any better. */
const MAX_BAD_READS = 3;

/**
 * Reads a stream of JSON, each item once: a read that breaks is begun again from the last offset. The protocol's client
 * retries nothing by itself, so that one place decides.
 */
export class StreamFollower {
  readonly #transport: Transport;
  readonly #read: StreamRead;
  readonly #fetch: typeof fetch;
  #offset: string;
  #taking: Promise<unknown> = Promise.resolve();
  #isDone = false;
  #failures = 0;
  #badReads = 0;

  constructor(transport: Transport, read: StreamRead) {
    this.#transport = transport;
    this.#read = read;
    this.#fetch = withStallGuard(transport.fetch, SILENCE_MS);
    this.#offset = read.from;
  }

  /** Resolves at the end of the stream or of what was asked for. Rejects with the signal's reason, or a final `APIError`. */
  async run(): Promise<void> {
    const { signal, states } = this.#read;
    states.enter({ name: 'connecting' });
    while (!this.#isDone) {
      signal.throwIfAborted();
      const beganAt = this.#offset;
      const beganAtMs = performance.now();
      try {
        await this.#readOn();
        const isIdle = this.#offset === beganAt && performance.now() - beganAtMs < SHORT_READ_MS;
        if (!this.#isDone && isIdle) await pause(pauseMs(++this.#failures), signal);
      } catch (error) {
        signal.throwIfAborted();
        if (this.#offset !== beganAt) this.#failures = this.#badReads = 0;
        const failure = readError(error);
        const retryInMs = this.#pauseAfter(failure, error);
        states.enter({ name: 'waiting', error: failure, retryInMs });
        await pause(retryInMs, signal);
        states.enter({ name: 'connecting' });
      }
    }
  }

  /** Reads what is there and then what comes, until the read ends or breaks. */
  async #readOn(): Promise<void> {
    // Loaded only where a timeline is read.
    const { stream } = await import('@durable-streams/client');
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#read.signal, ended.signal]);
    let isOver = false;
    try {
      const response = await stream({ ...this.#options(signal), live: this.#read.live });
      if (this.#read.live === false) {
        await this.#take(await response.json(), response.offset);
        this.#isDone = response.upToDate || response.streamClosed;
        return;
      }
      response.subscribeJson(async ({ items, offset, upToDate, streamClosed }) => {
        // `closed` can settle before the last batch is here: the next read brings it again.
        if (isOver || this.#isDone) return;
        const taking = this.#take(items, offset);
        this.#taking = taking.catch(() => undefined);
        await taking;
        if (upToDate) this.#caughtUp();
        this.#isDone = streamClosed;
        if (this.#isDone) ended.abort();
      });
      // Aborted just when it begins its next request, the client never settles.
      await Promise.race([response.closed, aborted(signal)]);
    } catch (error) {
      if (!this.#isDone) throw error;
    } finally {
      isOver = true;
      ended.abort();
      // What is being taken is finished first: the next read must not overtake it.
      await this.#taking;
    }
  }

  #caughtUp(): void {
    this.#failures = this.#badReads = 0;
    this.#read.states.enter({ name: 'live' });
  }

  async #take(items: readonly unknown[], offset: string): Promise<void> {
    // Nothing new; or items that were cut off from the offset behind them, and come again from the old one.
    if (offset === this.#offset) return;
    this.#offset = offset;
    await this.#read.onBatch({ items, offset });
  }

  #options(signal: AbortSignal): StreamOptions {
    return {
      url: `${this.#transport.url}${this.#read.path}`,
      offset: this.#offset,
      json: true,
      fetch: this.#fetch,
      signal,
      backoffOptions: { initialDelay: 0, maxDelay: 0, multiplier: 1, maxRetries: 0 },
      sseResilience: { logWarnings: false },
      warnOnHttp: false,
    };
  }

  /** How long to wait before the next read, in milliseconds. Throws where there is to be none. */
  #pauseAfter(failure: APIError, error: unknown): number {
    // A 404 with a code is the gateway's own: there is no such route or tenant.
    const isAbsent = failure.status === 404 && failure.code === 'http_404';
    if (isAbsent && this.#read.waitForStream) return WAIT_FOR_STREAM_MS;
    const isBroken = error instanceof SyntaxError && ++this.#badReads >= MAX_BAD_READS;
    if (isBroken || !isPassing(failure, this.#read.isRenewable)) throw failure;
    // A token that has just ended is replaced at once; one that is refused twice is not asked for in a hurry.
    this.#failures += 1;
    if (failure.status === 401 && this.#failures === 1) return 0;
    return pauseMs(this.#failures, failure.retryAfterMs);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
