import { FetchError, ShapeStream, type ShapeStreamOptions } from '@electric-sql/client';
import { CliError } from '../cli-error.ts';
import type { Connection } from '../connection/connection.ts';
import { notAGateway, refusalError, refusalOf } from '../connection/refusal.ts';
import type { WatchedGateway } from '../connection/watched-gateway.ts';
import { CatalogRows, type CatalogChange, type CatalogMessage } from './catalog-rows.ts';

/** Which rows. */
export interface CatalogQuery {
  table: string;
  /** SQL, with `$1` and so on. */
  where: string | undefined;
  params: Record<string, string>;
}

export interface CatalogRead {
  query: CatalogQuery;
  /** Go on when all rows have been read. */
  follow: boolean;
  /** The first call has all rows as inserts; the next messages wait until it has fulfilled. */
  onChanges: (changes: CatalogChange[], rows: CatalogRows) => Promise<void>;
  /** Aborts for an interrupt. */
  signal: AbortSignal;
}

/** Reads the catalog until all is read, or without end. Throws the `CliError` to end with. */
export async function followCatalog(
  read: CatalogRead,
  connection: Connection,
  gateway: WatchedGateway,
): Promise<void> {
  const signal = AbortSignal.any([read.signal, gateway.givenUp]);
  const rows = new CatalogRows();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  aborted.catch(() => undefined);
  try {
    signal.throwIfAborted();
    let isDone = false;
    while (!isDone) {
      isDone = await Promise.race([followOnce(read, rows, connection, gateway, signal), aborted]);
      rows.fetchAgain();
    }
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** @returns whether that was all; false where the client gave up and has to be started again. */
function followOnce(
  { query, follow, onChanges }: CatalogRead,
  rows: CatalogRows,
  connection: Connection,
  gateway: WatchedGateway,
  signal: AbortSignal,
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const ended = new AbortController();
  const stream = new ShapeStream({
    url: `${connection.url}/shapes/v1/shape`,
    params: shapeParams(query),
    fetchClient: gateway.fetch,
    subscribe: follow,
    backoffOptions: { initialDelay: 200, maxDelay: 5_000, multiplier: 2 },
    warnOnHttp: false,
    signal: AbortSignal.any([signal, ended.signal]),
    onError: (error) => {
      const final = finalError(error, connection);
      if (final) reject(final);
      else gateway.brokeOff(error);
      // An object means: go on from the last offset. Without one the client stops.
      return final ? undefined : {};
    },
  });
  stream.subscribe(
    async (messages) => {
      const wasComplete = rows.isComplete;
      const changes = rows.apply(messages as CatalogMessage[]);
      if (!rows.isComplete || (wasComplete && changes.length === 0)) return;
      await onChanges(changes, rows);
      if (!follow) resolve(true);
    },
    // After 50 errors in a row it stops all the same.
    () => resolve(false),
  );
  return promise.finally(() => {
    stream.unsubscribeAll();
    ended.abort();
  });
}

function shapeParams({ table, where, params }: CatalogQuery): ShapeStreamOptions['params'] {
  return {
    table,
    ...(where !== undefined && { where }),
    ...(Object.keys(params).length > 0 && { params }),
  };
}

/** The error to end with; undefined where trying again may help. */
function finalError(error: Error, connection: Connection): CliError | undefined {
  if (error instanceof CliError) return error;
  // The client does not export the class of this one, and never goes on after it.
  if (error.message.includes("didn't include the following required headers")) {
    return notAGateway(connection.url, 'it gives a catalog without the headers of Electric');
  }
  if (!(error instanceof FetchError) || error.status < 400 || error.status >= 500) return undefined;
  if (error.status === 401 && connection.credential?.reread() === true) return undefined;
  const { status, headers, text, json } = error;
  const refusal = refusalOf({ status, headers, text: text ?? JSON.stringify(json ?? '') });
  return refusalError(refusal, connection);
}
