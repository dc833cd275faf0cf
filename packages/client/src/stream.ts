import { Handoff } from './handoff.ts';
import { StateTeller, type LiveOptions } from './live-state.ts';
import { StreamFollower, type StreamChunk, type StreamRead } from './stream-follower.ts';
import type { Transport } from './transport.ts';

/** Options of `stream`. */
export interface StreamOptions extends LiveOptions {
  /** Where to begin: `start` (the default), `now` for new data only, or an offset. */
  from?: 'start' | 'now' | (string & {});
  /**
   * How to wait for new data. By default JSON uses events and anything else long-polls. False reads all existing
   * data and ends.
   */
  live?: 'sse' | 'long-poll' | false;
  /** Whether to wait for a stream that does not exist yet. Default false. */
  waitForStream?: boolean;
  /** Replaces `JSON.parse`, for example to keep large numbers exact. Throws a SyntaxError. */
  parse?: (text: string) => unknown;
  /**
   * Called when the store has less than has been read, because it was restored from a copy. Everything comes again
   * from the start.
   */
  onReset?: () => void;
}

/** Stands for the moment after which everything comes again from the start. */
export const RESET = Symbol('reset');

/**
 * Any stream of the history store as bytes, each once and in order. Like a timeline, it continues after failures.
 */
export class Stream implements AsyncIterable<StreamChunk> {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #isRenewable: boolean;
  readonly #options: StreamOptions;

  /** Created by `AgentGateway.stream`. */
  constructor(transport: Transport, path: string, isRenewable: boolean, options: StreamOptions) {
    this.#transport = transport;
    this.#path = path;
    this.#isRenewable = isRenewable;
    this.#options = options;
  }

  /**
   * The pieces of the stream. A piece without bytes means that all existing data has been read. Throws an
   * `APIError` for a final failure. Ends without an error when the signal aborts or the stream is closed.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<StreamChunk, void, undefined> {
    const { from = 'start', live, waitForStream = false, parse = JSON.parse } = this.#options;
    const { onState, onReset, signal } = this.#options;
    const chunks = chunksOf(
      this.#transport,
      {
        path: this.#path,
        from: from === 'start' ? '-1' : from,
        live,
        isJson: false,
        parse,
        waitForStream,
        isRenewable: this.#isRenewable,
        states: new StateTeller(onState),
      },
      signal,
    );
    for await (const chunk of chunks) {
      if (chunk === RESET) onReset?.();
      else yield chunk;
    }
  }
}

/** The pieces of a stream, which is read as fast as they are consumed. */
export async function* chunksOf(
  transport: Transport,
  read: Omit<StreamRead, 'onChunk' | 'onReset' | 'signal'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamChunk | typeof RESET, void, undefined> {
  const left = new AbortController();
  const handoff = new Handoff<StreamChunk | typeof RESET>();
  const follower = new StreamFollower(transport, {
    ...read,
    onChunk: (chunk) => handoff.offer(chunk),
    onReset: () => handoff.offer(RESET),
    signal: AbortSignal.any([left.signal, ...(signal ? [signal] : [])]),
  });
  const running = follower.run().then(
    () => handoff.end(),
    (error: unknown) => handoff.end(signal?.aborted === true ? undefined : error),
  );
  // A piece that nobody consumes must not delay the end.
  const onAbort = (): void => handoff.end();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    yield* handoff.values();
  } finally {
    signal?.removeEventListener('abort', onAbort);
    left.abort();
    handoff.end();
    await running;
  }
}
