import { Handoff } from './handoff.ts';
import { StateTeller, type LiveOptions } from './live-state.ts';
import { StreamFollower, type StreamChunk, type StreamRead } from './stream-follower.ts';
import type { Transport } from './transport.ts';

export interface StreamOptions extends LiveOptions {
  /** `start` (the default), `now` for what is written from now on, or an offset. */
  from?: 'start' | 'now' | (string & {});
  /**
   * How to wait for what is new: by events for JSON and by long-polls for anything else, unless said here. False reads all
   * that is there, and ends.
   */
  live?: 'sse' | 'long-poll' | false;
  /** Wait for a stream that is not there yet. Default false. */
  waitForStream?: boolean;
  /** In place of `JSON.parse`, such as one that keeps large numbers exact. Throws a SyntaxError. */
  parse?: (text: string) => unknown;
}

/**
 * Any stream of the history store, as bytes: each once and in order. Like a timeline, it continues after failures.
 */
export class Stream implements AsyncIterable<StreamChunk> {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #isRenewable: boolean;
  readonly #options: StreamOptions;

  /** Made by `AgentGateway.stream`. */
  constructor(transport: Transport, path: string, isRenewable: boolean, options: StreamOptions) {
    this.#transport = transport;
    this.#path = path;
    this.#isRenewable = isRenewable;
    this.#options = options;
  }

  /**
   * Pieces of the stream; one without bytes tells that all has been read. Throws an `APIError` for what does not pass; ends
   * without an error when the signal aborts or the stream is closed.
   */
  [Symbol.asyncIterator](): AsyncGenerator<StreamChunk, void, undefined> {
    const { from = 'start', live, waitForStream = false, parse = JSON.parse } = this.#options;
    const { onState, signal } = this.#options;
    return chunksOf(
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
  }
}

/** The pieces of a stream, read while somebody takes them. */
export async function* chunksOf(
  transport: Transport,
  read: Omit<StreamRead, 'onChunk' | 'signal'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamChunk, void, undefined> {
  const left = new AbortController();
  const handoff = new Handoff<StreamChunk>();
  const follower = new StreamFollower(transport, {
    ...read,
    onChunk: (chunk) => handoff.offer(chunk),
    signal: AbortSignal.any([left.signal, ...(signal ? [signal] : [])]),
  });
  const running = follower.run().then(
    () => handoff.end(),
    (error: unknown) => handoff.end(signal?.aborted === true ? undefined : error),
  );
  // A piece that is not taken yet must not keep the end waiting.
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
