import { once } from 'node:events';
import { stream, type ByteChunk, type StreamOptions } from '@durable-streams/client';
import { CliError } from '../cli-error.ts';
import type { Connection } from '../connection/connection.ts';
import { pause, pauseMs } from '../connection/pause.ts';
import { refusalError, refusalOf, type Refusal } from '../connection/refusal.ts';
import type { WatchedGateway } from '../connection/watched-gateway.ts';
import { EXIT } from '../exit-codes.ts';
import { readChunk, streamKind, type StreamChunk, type StreamKind } from './stream-chunk.ts';

export interface TimelineRead {
  /** The whole address. */
  url: string;
  /** `-1` for the start, `now`, or an offset. */
  from: string;
  /** Go on when all that is there has been read. */
  follow: boolean;
  /** Undefined: events for JSON, long-polls for anything else, which events would not keep as it is. */
  live: 'sse' | 'long-poll' | undefined;
  /** Take a stream that is not there for one that is yet to come. */
  waitForStream: boolean;
  /** Before the first chunk. */
  onKind: (kind: StreamKind, contentType: string) => void;
  /** The next chunk waits until this has fulfilled. True ends the reading. */
  onChunk: (chunk: StreamChunk) => Promise<boolean>;
  /** Aborts for an interrupt. */
  signal: AbortSignal;
}

type TakenChunk = Pick<ByteChunk, 'data' | 'offset' | 'streamClosed'>;

/** A read that breaks in the same place again and again will not get any better. */
const MAX_BAD_READS = 3;
const WAIT_FOR_STREAM_MS = 500;

/**
 * Reads a stream, each byte once: a read that breaks is begun again from the last offset. The client
 * retries nothing itself, so that there is one place which decides.
 */
export class TimelineFollower {
  /** All before it has been taken by `onChunk`: here another read goes on. */
  doneUpTo: string;
  /** Where the next read begins: all before it has been given to `onChunk`. */
  #offset: string;
  #taking: Promise<unknown> = Promise.resolve();
  readonly #read: TimelineRead;
  readonly #connection: Connection;
  readonly #gateway: WatchedGateway;
  #kind: StreamKind | undefined;
  #isDone = false;
  #failures = 0;
  #badReads = 0;

  constructor(read: TimelineRead, connection: Connection, gateway: WatchedGateway) {
    this.doneUpTo = this.#offset = read.from;
    this.#read = read;
    this.#connection = connection;
    this.#gateway = gateway;
  }

  /** Until the end of the stream, or of what was asked for. Throws the `CliError` to end with. */
  async run(): Promise<void> {
    const signal = AbortSignal.any([this.#read.signal, this.#gateway.givenUp]);
    while (!this.#isDone) {
      const beganAt = this.#offset;
      try {
        await this.#catchUp(signal);
        if (!this.#isDone) await this.#followLive(signal);
      } catch (error) {
        signal.throwIfAborted();
        await pause(this.#pauseAfter(error), signal);
      }
      signal.throwIfAborted();
      if (this.#offset !== beganAt) this.#failures = this.#badReads = 0;
    }
  }

  /** Reads all that is there, page by page. Here the kind of the stream is learned, too. */
  async #catchUp(signal: AbortSignal): Promise<void> {
    let isAll = false;
    while (!isAll && !this.#isDone) {
      const response = await stream({ ...this.#options(signal), live: false });
      this.#learnKind(response.contentType);
      const data = await response.body();
      const { offset, upToDate, streamClosed } = response;
      // A server that neither gives more nor says that this is all.
      isAll = upToDate || offset === this.#offset;
      await this.#take({ data, offset, streamClosed });
    }
    if (!this.#read.follow) this.#isDone = true;
  }

  /** Reads what comes from now on, until the read ends or breaks. */
  async #followLive(signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    let isOver = false;
    try {
      const aborting = AbortSignal.any([signal, ended.signal]);
      const live = this.#read.live ?? (this.#kind === 'json' ? 'sse' : 'long-poll');
      const response = await stream({ ...this.#options(aborting), live });
      response.subscribeBytes(async (chunk) => {
        // `closed` can settle before the last chunk is here: catching up brings it again.
        if (isOver || this.#isDone) return;
        await this.#take(chunk);
        if (this.#isDone) ended.abort();
      });
      // Aborted just when it begins its next request, the client never settles.
      await Promise.race([response.closed, once(aborting, 'abort')]);
    } finally {
      isOver = true;
      ended.abort();
      // What is being taken is finished first: the next read must not overtake it.
      await this.#taking;
    }
  }

  #options(signal: AbortSignal): StreamOptions {
    return {
      url: this.#read.url,
      offset: this.#offset,
      fetch: this.#gateway.fetch,
      signal,
      backoffOptions: { initialDelay: 0, maxDelay: 0, multiplier: 1, maxRetries: 0 },
      sseResilience: { logWarnings: false },
      warnOnHttp: false,
    };
  }

  #learnKind(contentType = 'application/octet-stream'): void {
    if (this.#kind !== undefined) return;
    this.#kind = streamKind(contentType);
    this.#read.onKind(this.#kind, contentType);
  }

  async #take({ data, offset, streamClosed }: TakenChunk): Promise<void> {
    const content = readChunk(this.#kind ?? 'binary', data);
    // Events that were cut off from the offset behind them: they come again from the old one.
    if (!content.isEmpty && offset === this.#offset) return;
    this.#offset = offset;
    const taking = content.isEmpty ? Promise.resolve(false) : this.#read.onChunk(content);
    this.#taking = taking.catch(() => undefined);
    const isEnough = await taking;
    this.doneUpTo = offset;
    this.#isDone = isEnough || streamClosed;
  }

  /** How long to wait before the next read, in milliseconds. Throws where there is to be none. */
  #pauseAfter(error: unknown): number {
    if (error instanceof CliError) throw error;
    const refusal = refusalOfClient(error);
    if (!refusal) return this.#pauseAfterBreak(error);
    const { status } = refusal;
    if (status === 401 && this.#connection.credential?.reread() === true) return 0;
    if (status === 404 && this.#read.waitForStream) return WAIT_FOR_STREAM_MS;
    if (status >= 500 || status === 429 || status === 408) {
      return pauseMs(++this.#failures, refusal.retryAfterMs);
    }
    throw refusalError(refusal, this.#connection, this.#hint(status));
  }

  #pauseAfterBreak(error: unknown): number {
    if (error instanceof SyntaxError && ++this.#badReads >= MAX_BAD_READS) {
      throw new CliError(EXIT.failed, `The stream cannot be read: ${error.message}.`, undefined, {
        cause: error,
      });
    }
    this.#gateway.brokeOff(error);
    return pauseMs(++this.#failures);
  }

  #hint(status: number): string | undefined {
    if (status === 401 && this.#offset !== this.#read.from) {
      return `With a key that works, --from ${this.#offset} goes on where this ended.`;
    }
    if (status === 404) {
      return 'With --wait it is waited for. A tenant other than "default" is named with --tenant.';
    }
    if (status === 410) return 'What stood there is no longer kept: begin with --from start.';
    return undefined;
  }
}

/** The client's error for an answer that is no success; it hides the answer in `details` on live reads. */
function refusalOfClient(error: unknown): Refusal | undefined {
  const { status, text, json, details, headers } = (error ?? {}) as Record<string, unknown>;
  if (typeof status !== 'number' || status < 400) return undefined;
  const said = text ?? json ?? details;
  return refusalOf({
    status,
    headers: (headers ?? {}) as Record<string, string>,
    text: typeof said === 'string' ? said : JSON.stringify(said ?? ''),
  });
}
