import {
  agentsNow,
  APIError,
  type AgentFailure,
  type Catalog,
  type CatalogChange,
  type EntityRow,
} from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import type { Connection } from '../connection/connection.ts';
import { failureOf } from '../connection/failure.ts';
import { LiveWatch } from '../connection/live-watch.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { plainLine } from '../output/plain-text.ts';
import { print, printJsonLines } from '../output/print.ts';
import { joined } from '../output/styled.ts';
import {
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
  /** For a list of agents as they are now; undefined for rows as they are. */
  agents: WantedAgents | undefined;
}

/** Which agents to list, beyond the query. */
export interface WantedAgents {
  type: string | undefined;
  /** As it is now, which the row may not say. */
  status: string | undefined;
  /** Whether the query asks for more than the type, so that nobody knows whether an agent without a row would be among them. */
  isNarrow: boolean;
}

/** Prints the current rows. Throws the `CliError` to end with. */
export async function listCatalog(
  query: CatalogQuery,
  options: ListOptions,
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const { columns, order, limit, json, agents } = options;
  const { stdout, notices } = context;
  const gateway = openGateway(connection);
  const looksFailing = agents && failingAgents(gateway, context.interrupted);
  await readCatalog(query, false, options, connection, context, async (catalog) => {
    for await (const read of catalog) {
      const failing = (await looksFailing) ?? [];
      const all: readonly CatalogRow[] = agents
        ? rowsNow(read as readonly EntityRow[], failing, agents, gateway.tenant)
        : read;
      refuseUnknownColumns(read, [...columns, order.column]);
      const rows = sortedRows(all, order).slice(0, limit);
      if (json === true) {
        await printJsonLines(stdout, rows);
      } else if (rows.length === 0) {
        notices.say('There is nothing of that kind.');
      } else {
        await print(stdout, rowsText(rows, columns, stdout.columns));
        const names = new Set(rows.map((row) => addressOf(row as EntityRow)));
        for (const failure of failing.filter(({ agent }) => names.has(agent))) {
          notices.say(failureText(failure));
        }
      }
    }
  });
}

/** A row says what its agent wrote last, perhaps before it failed, and an agent may fail before it writes one. */
function rowsNow(
  read: readonly EntityRow[],
  failing: readonly AgentFailure[],
  { type, status, isNarrow }: WantedAgents,
  tenant: string,
): EntityRow[] {
  const listed = new Set(read.map(addressOf));
  const isWanted = (row: EntityRow): boolean =>
    listed.has(addressOf(row)) || (!isNarrow && (type === undefined || row.type === type));
  return agentsNow(read, failing, tenant).filter(
    (row) => isWanted(row) && (status === undefined || row.status === status),
  );
}

function addressOf({ type, id }: Pick<EntityRow, 'type' | 'id'>): string {
  return `${type}/${id}`;
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
  const show = (changes: readonly CatalogChange[]): Promise<void> =>
    options.json === true
      ? printJsonLines(stdout, changes)
      : print(stdout, joined(changes.map((change) => changeText(change, new Date()))));
  let isFirst = true;
  context.watchReader();
  await readCatalog(query, true, options, connection, context, async (catalog) => {
    for await (const changes of catalog.changes()) {
      const skip = isFirst && changesOnly;
      isFirst = false;
      if (!skip) await show(changes);
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
