import { Command, Option } from 'commander';
import { USUAL_COLUMNS, type RowOrder } from '../catalog/catalog-text.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { catalogQuery, withCatalogOptions, type CatalogOptions } from './catalog-options.ts';
import { examples } from '../help-text.ts';
import { connect } from '../connection/ask-gateway.ts';
import { withConnection, withRetry } from './options.ts';

interface LsOptions extends CatalogOptions {
  columns: string;
  sort: RowOrder;
  limit: number;
}

export function lsCommand(context: CliContext): Command {
  const command = new Command('ls')
    .summary('list the entities of the catalog')
    .description(
      'Prints the agents of the catalog, one per line, with those that fail as failing or failed, whatever their row says, and why below. ' +
        'With --json or another table it prints the rows as they are.',
    );
  withCatalogOptions(command)
    .option('--columns <names>', 'the columns, separated by commas', USUAL_COLUMNS.join(','))
    .addOption(
      new Option('--sort <column>', 'sort by this column; -column sorts in descending order')
        .default({ column: 'address', isDescending: false }, 'address')
        .argParser(parseOrder),
    )
    .addOption(
      new Option('--limit <count>', 'print at most this many rows')
        .default(Infinity, 'all')
        .argParser(parseLimit),
    )
    .option('--json', 'print whole rows as JSON, one per line');
  return withConnection(withRetry(command))
    .addHelpText(
      'after',
      examples(
        'agent-gateway ls',
        'agent-gateway ls --type assistant --status running',
        'agent-gateway ls --parent assistant/ada --columns address,created_at',
        'agent-gateway ls --sort -updated_at --limit 10',
        `agent-gateway ls --json --where 'updated_at < $1' --param 2026-01-01 | jq -r .url`,
      ),
    )
    .action(async ({ status, ...options }: LsOptions) => {
      const connection = await connect(options, context);
      const { type, where, parent, table, json } = options;
      const isOfAgents = table === 'entities' && json !== true;
      const agents = isOfAgents
        ? { type, status, isNarrow: where !== undefined || parent !== undefined }
        : undefined;
      const isByRow = !isOfAgents && status !== undefined;
      const query = catalogQuery({ ...options, ...(isByRow && { status }) }, connection);
      const columns = options.columns.split(',').map((name) => name.trim());
      const { listCatalog } = await import('../catalog/show-catalog.ts');
      const { sort: order, limit } = options;
      const list = { ...options, columns, order, limit, agents };
      await listCatalog(query, list, connection, context);
    });
}

function parseOrder(text: string): RowOrder {
  const [, sign, column] = /^(-?)([A-Za-z_][A-Za-z0-9_]*)$/.exec(text) ?? [];
  if (column === undefined) throw usageError('--sort must be a column, or -column.');
  return { column, isDescending: sign === '-' };
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError('--limit must be a number of rows.');
  return Number(text);
}
