import {
  APIError,
  type Catalog,
  type CatalogChange,
  type Invocation,
} from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import type { Connection } from '../connection/connection.ts';
import { failureOf } from '../connection/failure.ts';
import { LiveWatch } from '../connection/live-watch.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { compactJson } from '../output/json.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';
import { write } from '../output/write.ts';
import {
  cellText,
  changeText,
  rowsText,
  sortedRows,
  type CatalogRow,
  type RowOrder,
} from './catalog-text.ts';
import { failingAgents, failureText } from './failing-agents.ts';

/** The selection of rows. */
export interface CatalogQuery {
  table: string;
  /** A condition in SQL, with `$1` and so on. */
  where: string | undefined;
  params: readonly string[];
}

export interface ShowCatalogOptions {
  json?: boolean;
  /** In seconds. */
  retryFor: number;
}

export interface ListOptions extends ShowCatalogOptions {
  columns: readonly string[];
  order: RowOrder;
  /** The most rows to print. */
  limit: number;
}

/** Prints the current rows. Throws the `CliError` to end with. */
export async function listCatalog(
  query: CatalogQuery,
  { columns, order, limit, ...options }: ListOptions,
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const { stdout, notices } = context;
  const isOfAgents = query.table === 'entities' && options.json !== true;
  const looksFailing = isOfAgents
    ? failingAgents(openGateway(connection), context.interrupted)
    : new Map<string, Invocation>();
  await readCatalog(query, false, options, connection, context, async (catalog) => {
    for await (const read of catalog) {
      const failing = await looksFailing;
      const nameOf = (row: CatalogRow) => cellText(row, 'address');
      // The row says what the agent wrote last, perhaps before it failed.
      const all: CatalogRow[] = read.map((row) =>
        failing.has(nameOf(row)) ? { ...row, status: 'failing' } : row,
      );
      refuseUnknownColumns(all, [...columns, order.column]);
      const rows = sortedRows(all, order).slice(0, limit);
      if (options.json === true) {
        await write(stdout, rows.map((row) => `${compactJson(row)}\n`).join(''));
      } else if (rows.length === 0) {
        notices.say('There is nothing of that kind.');
      } else {
        await write(stdout, rowsText(rows, columns, styleFor(stdout), stdout.columns));
        for (const name of rows.map(nameOf)) {
          const invocation = failing.get(name);
          if (invocation) notices.say(failureText(name, invocation));
        }
      }
    }
  });
}

/** Throws a usage error. Without rows no column is known, and none is missed. */
function refuseUnknownColumns(rows: readonly CatalogRow[], columns: readonly string[]): void {
  const known = new Set(rows.flatMap((row) => Object.keys(row)));
  const unknown = columns.find((column) => column !== 'address' && !known.has(column));
  if (rows.length === 0 || unknown === undefined) return;
  throw usageError(
    `There is no column "${plainLine(unknown)}".`,
    `There are address, ${[...known].map(plainLine).join(', ')}.`,
  );
}

/** Prints the current rows, unless only changes are wanted, and then the changes without end. */
export async function watchCatalog(
  query: CatalogQuery,
  { changesOnly, ...options }: ShowCatalogOptions & { changesOnly: boolean },
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const { stdout } = context;
  const style = styleFor(stdout);
  const textOf = (change: CatalogChange): string =>
    options.json === true ? compactJson(change) : changeText(change, new Date(), style);
  let isFirst = true;
  context.watchReader();
  await readCatalog(query, true, options, connection, context, async (catalog) => {
    for await (const changes of catalog.changes()) {
      const skip = isFirst && changesOnly;
      isFirst = false;
      if (!skip) await write(stdout, changes.map((change) => `${textOf(change)}\n`).join(''));
    }
  });
}

async function readCatalog(
  { table, where, params }: CatalogQuery,
  isLive: boolean,
  { retryFor }: ShowCatalogOptions,
  connection: Connection,
  { notices, interrupted }: CliContext,
  take: (catalog: Catalog) => Promise<void>,
): Promise<void> {
  const firstContactMs = retryFor * 1_000;
  const watch = new LiveWatch(connection, { firstContactMs, notices, interrupted });
  const catalog = openGateway(connection).catalog({
    table,
    ...(where !== undefined && { where }),
    params,
    ...(!isLive && { live: false as const }),
    signal: watch.signal,
    onState: watch.onState,
  });
  try {
    await take(catalog);
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    throw failureOf(error, connection);
  }
  watch.throwIfGivenUp();
  interrupted.throwIfAborted();
}
