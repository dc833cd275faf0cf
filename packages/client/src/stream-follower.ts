import type { StreamOptions } from '@durable-streams/client';
import { APIError, isPassing } from './api-error.ts';
import { readError } from './client-error.ts';
import type { StateTeller } from './live-state.ts';
import { pause, pauseMs } from './pause.ts';
import { withStallGuard } from './stall-guard.ts';
import type { Transport } from './transport.ts';

/** A piece of a stream. */
export interface StreamChunk {
  /** The media type of the stream. */
  contentType: string;
  bytes: Uint8Array;
  /** The parsed items of a JSON stream, otherwise empty. */
  items: readonly unknown[];
  /** Where the next read continues. */
  offset: string;
  /** Whether this is all data that exists for now. */
  isUpToDate: boolean;
}

export interface StreamRead {
  path: string;
  /** `-1` for the start, `now`, or an offset. */
  from: string;
  /** How to wait for new data. Undefined: by events for JSON, else by long-polls. False: end at the current end. */
  live: 'sse' | 'long-poll' | false | undefined;
  /** Whether the stream is known to be JSON, so that its type need not be requested. */
  isJson: boolean;
  parse: (text: string) => unknown;
  /** Whether to wait for a stream that does not exist yet. */
  waitForStream: boolean;
  isRenewable: boolean;
  /** The next chunk waits until this promise is fulfilled. */
  onChunk: (chunk: StreamChunk) => Promise<void>;
  states: StateTeller;
  signal: AbortSignal;
}

type Taken = Pick<StreamChunk, 'offset'> & {
  data: Uint8Array;
  upToDate: boolean;
  streamClosed: boolean;
};

/** A long-poll lasts 30 s at most, and an event stream sends something within 60 s. */
const SILENCE_MS = 90_000;
const WAIT_FOR_STREAM_MS = 500;
/** A live read that ends sooner without new data counts as a failure. */
const SHORT_READ_MS = 1_000;
/** A response that repeatedly cannot be parsed at the same place will not improve. */
const MAX_BAD_READS = 3;

/**
 * Reads a stream, each byte once. A read that breaks continues from the last offset. The protocol's client retries
 * nothing by itself, so that all decisions are here.
 */
export class StreamFollower {
  readonly #transport: Transport;
  readonly #read: StreamRead;
  readonly #fetch: typeof fetch;
  #contentType: string | undefined;
  #offset: string;
  #taking: Promise<unknown> = Promise.resolve();
  #isDone = false;
  #hasToldUpToDate = false;
  /** Whether the stream is closed and its last items have not arrived yet. */
  #isClosedAhead = false;
  #failures = 0;
  #badReads = 0;

  constructor(transport: Transport, read: StreamRead) {
    this.#transport = transport;
    this.#read = read;
    this.#fetch = withStallGuard(transport.fetch, SILENCE_MS);
    this.#offset = read.from;
    if (read.isJson) this.#contentType = 'application/json';
  }

  /**
   * Resolves at the end of the stream or of the requested part. Rejects with the signal's reason or a final
   * `APIError`.
   */
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

  /** Reads existing and then new data, until the read ends or breaks. */
  async #readOn(): Promise<void> {
    // It is loaded only when a stream is read.
    const { stream } = await import('@durable-streams/client');
    const { live, signal } = this.#read;
    // The end of a closed stream is read without waiting, because a live read can lose it.
    if (this.#contentType === undefined || live === false || this.#isClosedAhead) {
      const response = await stream({ ...this.#options(signal), live: false });
      this.#contentType ??= response.contentType ?? 'application/octet-stream';
      const data = await response.body();
      const { offset, upToDate, streamClosed } = response;
      // The server neither sends more data nor says that this is all.
      const isAll = upToDate || offset === this.#offset;
      await this.#take({ data, offset, upToDate: isAll, streamClosed });
      this.#isDone ||= live === false && isAll;
      if (this.#isDone || !isAll) return;
    }
    await this.#follow(stream);
  }

  async #follow(stream: typeof import('@durable-streams/client').stream): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#read.signal, ended.signal]);
    const live = this.#read.live || (this.#isJson() ? 'sse' : 'long-poll');
    let isOver = false;
    try {
      const response = await stream({ ...this.#options(signal), live });
      response.subscribeBytes(async (chunk) => {
        // `closed` can settle before the last chunk has arrived. The next read brings it again.
        if (isOver || this.#isDone) return;
        await this.#take(chunk);
        if (this.#isDone) ended.abort();
      });
      // The client never settles if it is aborted just when it begins its next request.
      await Promise.race([response.closed, aborted(signal)]);
      this.#isClosedAhead = response.streamClosed && !this.#isDone;
    } catch (error) {
      if (!this.#isDone) throw error;
    } finally {
      isOver = true;
      ended.abort();
      // A chunk in progress is finished first, so that the next read cannot overtake it.
      await this.#taking;
    }
  }

  #isJson(): boolean {
    return /^application\/json\b/i.test(this.#contentType ?? '');
  }

  async #take({ data, offset, upToDate, streamClosed }: Taken): Promise<void> {
    const items = this.#isJson() ? this.#parse(data) : [];
    const isEmpty = this.#isJson() ? items.length === 0 : data.length === 0;
    // At the same offset there is no new data, or items without their next offset, which come again.
    const isNews = offset !== this.#offset || (isEmpty && upToDate && !this.#hasToldUpToDate);
    if (isNews) {
      this.#offset = offset;
      this.#hasToldUpToDate ||= upToDate;
      const contentType = this.#contentType ?? '';
      const chunk = { contentType, bytes: data, items, offset, isUpToDate: upToDate };
      const taking = this.#read.onChunk(chunk);
      this.#taking = taking.catch(() => undefined);
      await taking;
    }
    if (upToDate) this.#caughtUp();
    this.#isDone ||= streamClosed;
  }

  #parse(data: Uint8Array): unknown[] {
    const text = new TextDecoder().decode(data).trim();
    const value = text === '' ? [] : this.#read.parse(text);
    return Array.isArray(value) ? (value as unknown[]) : [value];
  }

  #caughtUp(): void {
    this.#failures = this.#badReads = 0;
    this.#read.states.enter({ name: 'live' });
  }

  #options(signal: AbortSignal): StreamOptions {
    return {
      url: this.#transport.urlOf(this.#read.path),
      offset: this.#offset,
      json: this.#isJson(),
      fetch: endingWith(signal, this.#fetch),
      signal,
      backoffOptions: { initialDelay: 0, maxDelay: 0, multiplier: 1, maxRetries: 0 },
      sseResilience: { logWarnings: false },
      warnOnHttp: false,
    };
  }

  /** The wait before the next read in milliseconds. Throws if there must be none. */
  #pauseAfter(failure: APIError, error: unknown): number {
    // A 404 with a code comes from the gateway: there is no such route or tenant.
    const isAbsent = failure.status === 404 && failure.code === 'http_404';
    if (isAbsent && this.#read.waitForStream) return WAIT_FOR_STREAM_MS;
    const isBroken = error instanceof SyntaxError && ++this.#badReads >= MAX_BAD_READS;
    if (isBroken) {
      throw new APIError(`The stream cannot be read: ${error.message}.`, {
        code: 'stream_unreadable',
        cause: error,
      });
    }
    if (!isPassing(failure, this.#read.isRenewable)) throw failure;
    // An expired token is renewed at once. After a second refusal the client waits first.
    this.#failures += 1;
    if (failure.status === 401 && this.#failures === 1) return 0;
    return pauseMs(this.#failures, failure.retryAfterMs);
  }
}

/** The protocol's client overlooks an abort that comes while it waits to connect again: what it asks for then ends here. */
function endingWith(signal: AbortSignal, fetchNow: typeof fetch): typeof fetch {
  return (input, init = {}) => {
    const signals = init.signal ? [signal, init.signal] : [signal];
    return fetchNow(input, { ...init, signal: AbortSignal.any(signals) });
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
