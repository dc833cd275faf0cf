import type { CliContext } from '../cli-context.ts';
import type { Connection } from '../connection/connection.ts';
import { WatchedGateway } from '../connection/watched-gateway.ts';
import { compactJson } from '../output/json.ts';
import { styleFor } from '../output/style.ts';
import { write } from '../output/write.ts';
import { changeText, rowsText } from './catalog-text.ts';
import type { CatalogChange, CatalogRow } from './catalog-rows.ts';
import { followCatalog, type CatalogQuery } from './follow-catalog.ts';

export interface ShowCatalogOptions {
  json?: boolean;
  /** In seconds. */
  retryFor: number;
}

/** Longer than the long-poll of any catalog engine, which is 20 s at Electric. */
const SILENCE_MS = 60_000;

/** Prints the rows there are now. Throws the `CliError` to end with. */
export async function listCatalog(
  query: CatalogQuery,
  columns: string[],
  options: ShowCatalogOptions,
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const { stdout, notices, interrupted: signal } = context;
  const onChanges = async (_: CatalogChange[], { rows }: { rows: CatalogRow[] }): Promise<void> => {
    if (options.json === true) {
      await write(stdout, rows.map((row) => `${compactJson(row)}\n`).join(''));
    } else if (rows.length === 0) {
      notices.say('There is nothing of that kind.');
    } else {
      await write(stdout, rowsText(rows, columns, styleFor(stdout)));
    }
  };
  const gateway = watched(connection, options, context);
  await followCatalog({ query, follow: false, onChanges, signal }, connection, gateway);
}

/** Prints the rows there are now, unless only changes are wanted, and then what changes, without end. */
export async function watchCatalog(
  query: CatalogQuery,
  { changesOnly, ...options }: ShowCatalogOptions & { changesOnly: boolean },
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const { stdout, interrupted: signal } = context;
  const style = styleFor(stdout);
  let isFirst = true;
  const onChanges = async (changes: CatalogChange[]): Promise<void> => {
    const skip = isFirst && changesOnly;
    isFirst = false;
    if (skip) return;
    const lines = changes.map((change) =>
      options.json === true ? compactJson(change) : changeText(change, new Date(), style),
    );
    await write(stdout, lines.map((line) => `${line}\n`).join(''));
  };
  const gateway = watched(connection, options, context);
  await followCatalog({ query, follow: true, onChanges, signal }, connection, gateway);
}

function watched(
  connection: Connection,
  { retryFor }: ShowCatalogOptions,
  { notices }: CliContext,
): WatchedGateway {
  const options = { firstContactMs: retryFor * 1_000, silenceMs: SILENCE_MS, notices };
  return new WatchedGateway(connection, options);
}
