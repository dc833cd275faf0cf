import type { Row, ShapeStreamOptions } from '@electric-sql/client';
import { isPassing } from './api-error.ts';
import { readError } from './client-error.ts';
import { StateTeller, type LiveOptions } from './live-state.ts';
import { pause, pauseMs } from './pause.ts';
import { withStallGuard } from './stall-guard.ts';
import type { Transport } from './transport.ts';

/** A row of the table `entities`. Every value comes as text, as Electric sends it. */
export interface EntityRow extends Row {
  url: string;
  type: string;
  id: string;
  status: string;
  parent: string | null;
  tenant: string;
  created_at: string;
  updated_at: string;
}

export interface CatalogOptions extends LiveOptions {
  /** Default `entities`. */
  table?: string;
  /** SQL, with `$1`, `$2` … for the values of `params`. */
  where?: string;
  params?: readonly string[];
  /** Default: all. */
  columns?: readonly string[];
}

/** A long-poll parks for 20 s at the engine. */
const SILENCE_MS = 60_000;
const BACKOFF = { initialDelay: 200, maxDelay: 5_000, multiplier: 2 };

/**
 * The rows of a table, all of them after each change. Iterate over it, or subscribe. A consumer that is slow gets the
 * newest rows, not each state between.
 *
 * What passes is waited for, as by a timeline. The iteration ends when the signal aborts, and throws an `APIError` for what
 * does not pass.
 */
export class Catalog<R extends Row = EntityRow> implements AsyncIterable<readonly R[]> {
  readonly #transport: Transport;
  readonly #isRenewable: boolean;
  readonly #options: CatalogOptions;

  /** Made by `AgentGateway.catalog`. */
  constructor(transport: Transport, isRenewable: boolean, options: CatalogOptions) {
    this.#transport = transport;
    this.#isRenewable = isRenewable;
    this.#options = options;
  }

  /** Each iteration reads anew. */
  async *[Symbol.asyncIterator](): AsyncGenerator<readonly R[], void, undefined> {
    const left = new AbortController();
    const { signal } = this.#options;
    const ended = AbortSignal.any([left.signal, ...(signal ? [signal] : [])]);
    let newest: readonly R[] | undefined;
    let end: { error: unknown } | undefined;
    let wake = (): void => undefined;
    const publish = (rows: readonly R[]): void => {
      newest = rows;
      wake();
    };
    const finish = (error: unknown): void => {
      end ??= { error: ended.aborted ? undefined : error };
      wake();
    };
    const running = this.#run(publish, ended).then(() => finish(undefined), finish);
    try {
      for (;;) {
        if (newest && !ended.aborted) {
          const rows = newest;
          newest = undefined;
          yield rows;
        } else if (end) {
          if (end.error !== undefined) throw end.error;
          return;
        } else {
          await new Promise<void>((resolve) => (wake = resolve));
        }
      }
    } finally {
      left.abort();
      await running;
    }
  }

  /** Calls `onRows` with all rows after each change. Resolves and rejects as the iteration ends. */
  async subscribe(onRows: (rows: readonly R[]) => unknown): Promise<void> {
    for await (const rows of this) await onRows(rows);
  }

  async #run(publish: (rows: readonly R[]) => void, signal: AbortSignal): Promise<void> {
    const states = new StateTeller(this.#options.onState);
    states.enter({ name: 'connecting' });
    // After 50 errors in a row the client stops for good: another one begins.
    while (!signal.aborted) await this.#follow(publish, states, signal);
  }

  /** Resolves where the client has stopped by itself or for the signal. Rejects with a final `APIError`. */
  async #follow(
    publish: (rows: readonly R[]) => void,
    states: StateTeller,
    signal: AbortSignal,
  ): Promise<void> {
    // Loaded only where the catalog is read.
    const { Shape, ShapeStream } = await import('@electric-sql/client');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let failures = 0;
    const wait = (error: unknown, retryInMs = pauseMs(++failures)): number => {
      states.enter({ name: 'waiting', error: readError(error), retryInMs });
      return retryInMs;
    };
    const stream = new ShapeStream<R>({
      url: `${this.#transport.url}/shapes/v1/shape`,
      params: this.#params(),
      fetchClient: watched(withStallGuard(this.#transport.fetch, SILENCE_MS), wait, signal),
      backoffOptions: BACKOFF,
      warnOnHttp: false,
      signal,
      onError: async (error) => {
        const failure = readError(error);
        if (signal.aborted) return undefined;
        if (!isPassing(failure, this.#isRenewable) || isUnusable(error)) {
          reject(failure);
          return undefined;
        }
        await pause(wait(failure), signal).catch(() => undefined);
        // Any object means: go on from the last offset. Without one the client stops for good.
        return signal.aborted ? undefined : {};
      },
    });
    const shape = new Shape<R>(stream);
    shape.subscribe(({ rows }) => {
      if (shape.error) return;
      publish(rows);
    });
    stream.subscribe(
      () => {
        failures = 0;
        if (stream.isUpToDate) states.enter({ name: 'live' });
      },
      () => resolve(),
    );
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
    return promise.finally(() => stream.unsubscribeAll());
  }

  #params(): ShapeStreamOptions['params'] {
    const { table = 'entities', where, params = [], columns } = this.#options;
    const numbered = Object.fromEntries(params.map((value, index) => [index + 1, value]));
    return {
      table,
      ...(where !== undefined && { where }),
      ...(params.length > 0 && { params: numbered }),
      ...(columns && { columns: [...columns] }),
    };
  }
}

/** The client tries again by itself what fails by the network, and 429 and 5xx, without a word: this tells of them. */
function watched(
  fetchNow: typeof fetch,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): typeof fetch {
  return async (input, init) => {
    try {
      const response = await fetchNow(input, init);
      if (response.status >= 500 || response.status === 429) {
        const { status, headers } = response;
        failed({ status, headers, text: await response.clone().text() });
      }
      return response;
    } catch (error) {
      if (!signal.aborted && init?.signal?.aborted !== true) failed(error);
      throw error;
    }
  };
}

/** The client does not export the class of this error, and never goes on after it. */
function isUnusable(error: Error): boolean {
  return error.message.includes("didn't include the following required headers");
}
