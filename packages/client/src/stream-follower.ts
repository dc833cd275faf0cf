import type { StreamOptions } from '@durable-streams/client';
import { APIError, errorOfAnswer, isPassing } from './api-error.ts';
import { readError } from './client-error.ts';
import { ForeignAnswers } from './foreign-answers.ts';
import type { StateTeller } from './live-state.ts';
import { pause, pauseMs } from './pause.ts';
import { ReadRequests } from './read-requests.ts';
import { aborted, ReadTurns } from './read-turns.ts';
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
  /** The store has less than before. Everything comes again from the start after this promise is fulfilled. */
  onReset: () => Promise<void>;
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
 * nothing by itself, so that all decisions are here. It also loses its wake-up in a page that is hidden twice in a short time, so
 * it is never there while the page is hidden: each read ends with that, and the next one begins when the page is shown.
 */
export class StreamFollower {
  readonly #transport: Transport;
  readonly #read: StreamRead;
  readonly #requests: ReadRequests;
  readonly #turns: ReadTurns;
  readonly #foreign = new ForeignAnswers();
  #contentType: string | undefined;
  #offset: string;
  #taking: Promise<unknown> = Promise.resolve();
  #isTaking = false;
  #isDone = false;
  #hasToldUpToDate = false;
  /** Whether the stream is closed and its last items have not arrived yet. */
  #isClosedAhead = false;
  #failures = 0;
  #badReads = 0;
  #resets = 0;

  constructor(transport: Transport, read: StreamRead) {
    this.#transport = transport;
    this.#read = read;
    this.#requests = new ReadRequests(transport.fetch, SILENCE_MS);
    this.#turns = new ReadTurns({
      requests: this.#requests,
      states: read.states,
      isLive: read.live !== false,
      isTaking: () => this.#isTaking,
      signal: read.signal,
    });
    this.#offset = read.from;
    if (read.isJson) this.#contentType = 'application/json';
  }

  /**
   * Resolves at the end of the stream or of the requested part. Rejects with the signal's reason or a final
   * `APIError`.
   */
  async run(): Promise<void> {
    const unwatch = this.#turns.watch();
    try {
      while (!this.#isDone) await this.#readOnce();
    } finally {
      unwatch();
    }
  }

  /** One turn, and the pause after it if it failed. */
  async #readOnce(): Promise<void> {
    const { signal } = this.#read;
    const turn = await this.#turns.next();
    const beganAt = this.#offset;
    const beganAtMs = performance.now();
    try {
      await this.#readOn(turn);
      const isIdle = this.#offset === beganAt && performance.now() - beganAtMs < SHORT_READ_MS;
      if (this.#isDone || !isIdle || turn.aborted) return;
      await pause(pauseMs(++this.#failures), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (turn.aborted) return;
      if (this.#offset !== beganAt) this.#failures = this.#badReads = 0;
      const failure = readError(error);
      const retryInMs = this.#pauseAfter(failure, error);
      // The request for a token may hang on a dead connection as well.
      if (this.#requests.areInDoubt) this.#transport.forgetPendingToken();
      await this.#turns.waitAfter(failure, retryInMs);
    }
  }

  /** Reads existing and then new data, until the read ends or breaks. */
  async #readOn(signal: AbortSignal): Promise<void> {
    const { live } = this.#read;
    // The end of a closed stream is read without waiting, because a live read can lose it. A long-poll proves no connection.
    const isAnsweredAtOnce =
      this.#contentType === undefined ||
      live === false ||
      this.#isClosedAhead ||
      (this.#requests.areInDoubt && this.#mode() === 'long-poll');
    if (isAnsweredAtOnce && !(await this.#catchUp(signal))) return;
    if (!signal.aborted) await this.#follow(signal);
  }

  /** One request for what exists. Returns whether all of it was read and the read continues. */
  async #catchUp(signal: AbortSignal): Promise<boolean> {
    const url = this.#transport.urlOf(this.#read.path, { offset: this.#offset });
    const response = await this.#requests.fetch(url, { signal });
    const { status, headers } = response;
    if (!response.ok) {
      throw errorOfAnswer({ status, headers, text: await response.text() }, true);
    }
    const data = new Uint8Array(await response.arrayBuffer());
    this.#contentType ??= headers.get('content-type') ?? 'application/octet-stream';
    const offset = headers.get('stream-next-offset') ?? this.#offset;
    const streamClosed = headers.get('stream-closed')?.toLowerCase() === 'true';
    // The server neither sends more data nor says that this is all.
    const isAll = headers.has('stream-up-to-date') || offset === this.#offset;
    await this.#take({ data, offset, upToDate: isAll, streamClosed });
    if (signal.aborted) return false;
    this.#isDone ||= this.#read.live === false && isAll;
    return !this.#isDone && isAll;
  }

  async #follow(turn: AbortSignal): Promise<void> {
    // It is loaded only when a stream is followed.
    const { stream } = await import('@durable-streams/client');
    const ended = new AbortController();
    const signal = AbortSignal.any([turn, ended.signal]);
    const live = this.#mode();
    let isOver = false;
    try {
      const response = await stream({ ...this.#options(signal), live });
      response.subscribeBytes(async (chunk) => {
        // `closed` can settle before the last chunk has arrived. The next read brings it again.
        if (isOver || this.#isDone || turn.aborted) return;
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

  #mode(): 'sse' | 'long-poll' {
    return this.#read.live || (this.#isJson() ? 'sse' : 'long-poll');
  }

  async #take({ data, offset, upToDate, streamClosed }: Taken): Promise<void> {
    if (this.#isBehind(offset)) return this.#startOver();
    const items = this.#isJson() ? this.#parse(data) : [];
    const isEmpty = this.#isJson() ? items.length === 0 : data.length === 0;
    // At the same offset there is no new data, or items without their next offset, which come again.
    const isNews = offset !== this.#offset || (isEmpty && upToDate && !this.#hasToldUpToDate);
    if (isNews) {
      this.#offset = offset;
      this.#hasToldUpToDate ||= upToDate;
      const contentType = this.#contentType ?? '';
      const chunk = { contentType, bytes: data, items, offset, isUpToDate: upToDate };
      await this.#untilTaken(this.#read.onChunk(chunk));
    }
    this.#foreign.forget();
    if (upToDate) this.#caughtUp();
    this.#isDone ||= streamClosed;
  }

  async #untilTaken(taking: Promise<void>): Promise<void> {
    this.#taking = taking.catch(() => undefined);
    this.#isTaking = true;
    try {
      await taking;
    } finally {
      this.#isTaking = false;
    }
  }

  /** Offsets sort as text. A store that was restored from a copy has a lower one. */
  #isBehind(offset: string): boolean {
    return this.#offset !== '-1' && this.#offset !== 'now' && offset < this.#offset;
  }

  async #startOver(): Promise<void> {
    this.#offset = '-1';
    this.#hasToldUpToDate = this.#isClosedAhead = false;
    await this.#untilTaken(this.#read.onReset());
    // A store that does this again and again must not be read in a tight loop.
    if (++this.#resets > 1) await pause(pauseMs(this.#resets), this.#read.signal);
    this.#turns.end();
  }

  #parse(data: Uint8Array): unknown[] {
    const text = new TextDecoder().decode(data).trim();
    const value = text === '' ? [] : this.#read.parse(text);
    return Array.isArray(value) ? (value as unknown[]) : [value];
  }

  #caughtUp(): void {
    this.#failures = this.#badReads = 0;
    if (!this.#turns.isEnded) this.#read.states.enter({ name: 'live' });
  }

  #options(signal: AbortSignal): StreamOptions {
    return {
      url: this.#transport.urlOf(this.#read.path),
      offset: this.#offset,
      json: this.#isJson(),
      fetch: endingWith(signal, this.#requests.fetch),
      signal,
      backoffOptions: { initialDelay: 0, maxDelay: 0, multiplier: 1, maxRetries: 0 },
      sseResilience: { logWarnings: false },
      warnOnHttp: false,
      // Behind the end of what exists the client would ask for more of that first.
      ...(this.#hasToldUpToDate && this.#mode() === 'sse' && { params: { live: 'sse' } }),
    };
  }

  /** The wait before the next read in milliseconds. Throws if there must be none. */
  #pauseAfter(failure: APIError, error: unknown): number {
    const mayPass = this.#foreign.mayPass(failure);
    // A 404 with a code comes from the gateway: there is no such route or tenant.
    const { status, code, requestId } = failure;
    const isAbsent = status === 404 && code === 'http_404' && requestId !== undefined;
    if (isAbsent && this.#read.waitForStream) return WAIT_FOR_STREAM_MS;
    const isBroken = error instanceof SyntaxError && ++this.#badReads >= MAX_BAD_READS;
    if (isBroken) {
      throw new APIError(`The stream cannot be read: ${error.message}.`, {
        code: 'stream_unreadable',
        cause: error,
      });
    }
    if (!mayPass && !isPassing(failure, this.#read.isRenewable)) throw failure;
    // An expired token is renewed at once. After a second refusal the client waits first.
    this.#failures += 1;
    if (status === 401 && this.#failures === 1) return 0;
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
