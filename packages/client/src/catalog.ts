import type { Row, ShapeStreamOptions } from '@electric-sql/client';
import { followCatalog, type Consume } from './catalog-follower.ts';
import { CatalogRows, type CatalogChange, type CatalogMessage } from './catalog-rows.ts';
import type { EntityRow } from './entity-row.ts';
import { Handoff } from './handoff.ts';
import { StateTeller, type LiveOptions } from './live-state.ts';
import type { Transport } from './transport.ts';

/** Which rows of the catalog to read, and whether to follow them. */
export interface CatalogOptions extends LiveOptions {
  /** The table. Default `entities`. */
  table?: string;
  /** A condition in SQL, with `$1`, `$2` … for the values of `params`. */
  where?: string;
  params?: readonly string[];
  /** The columns. Default: all. */
  columns?: readonly string[];
  /** False reads the current rows and ends. */
  live?: false;
}

/**
 * The rows of a table, all of them after each change. Iterate over it, or subscribe. A slow consumer gets the
 * newest rows, not every state between. Temporary failures are retried, as for a timeline. The iteration ends when
 * the signal aborts, and throws an `APIError` for a final failure.
 */
export class Catalog<R extends Row = EntityRow> implements AsyncIterable<readonly R[]> {
  readonly #transport: Transport;
  readonly #isRenewable: boolean;
  readonly #options: CatalogOptions;

  /** Created by `AgentGateway.catalog`. */
  constructor(transport: Transport, isRenewable: boolean, options: CatalogOptions) {
    this.#transport = transport;
    this.#isRenewable = isRenewable;
    this.#options = options;
  }

  /** Each iteration reads from the start. */
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
    const consume: Consume<R> = ({ Shape }, stream, gotAll) => {
      const shape = new Shape<R>(stream);
      shape.subscribe(({ rows }) => {
        if (shape.error) return;
        publish(rows);
        gotAll();
      });
    };
    const running = this.#run(consume, ended).then(() => finish(undefined), finish);
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

  /** Calls `onRows` with all rows after each change. Resolves and rejects when the iteration would end or throw. */
  async subscribe(onRows: (rows: readonly R[]) => unknown): Promise<void> {
    for await (const rows of this) await onRows(rows);
  }

  /**
   * The changes, row by row: first all existing rows as inserts, then every change. When the engine asks the
   * client to fetch everything again, the differences are reported. It ends and throws like the iteration.
   */
  async *changes(): AsyncGenerator<readonly CatalogChange<R>[], void, undefined> {
    const left = new AbortController();
    const { signal } = this.#options;
    const ended = AbortSignal.any([left.signal, ...(signal ? [signal] : [])]);
    const handoff = new Handoff<readonly CatalogChange<R>[]>();
    const rows = new CatalogRows<R>();
    let isFirst = true;
    const consume: Consume<R> = (_, stream, gotAll) => {
      rows.fetchAgain();
      stream.subscribe(async (messages) => {
        const changes = rows.apply(messages as CatalogMessage<R>[]);
        if (!rows.isComplete) return;
        // The first call also happens without rows, so that the caller knows that there are none.
        if (changes.length > 0 || isFirst) await handoff.offer(changes);
        isFirst = false;
        gotAll();
      });
    };
    const running = this.#run(consume, ended).then(
      () => handoff.end(),
      (error: unknown) => handoff.end(ended.aborted ? undefined : error),
    );
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

  #run(consume: Consume<R>, signal: AbortSignal): Promise<void> {
    const { table = 'entities', where, params = [], columns, live, onState } = this.#options;
    const numbered = Object.fromEntries(params.map((value, index) => [index + 1, value]));
    const asked: ShapeStreamOptions['params'] = {
      table,
      ...(where !== undefined && { where }),
      ...(params.length > 0 && { params: numbered }),
      ...(columns && { columns: [...columns] }),
    };
    return followCatalog(this.#transport, {
      params: asked,
      isLive: live !== false,
      isRenewable: this.#isRenewable,
      consume,
      states: new StateTeller(onState),
      signal,
    });
  }
}
