import { Command } from 'commander';
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
    .description('Prints the current rows of the catalog, one per line.');
  withCatalogOptions(command)
    .option('--columns <names>', 'the columns, separated by commas', USUAL_COLUMNS.join(','))
    .option(
      '--sort <column>',
      'sort by this column; -column sorts in descending order',
      parseOrder,
      {
        column: 'address',
        isDescending: false,
      },
    )
    .option('--limit <count>', 'print at most this many rows', parseLimit, Infinity)
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
    .action(async (options: LsOptions) => {
      const connection = await connect(options, context);
      const query = catalogQuery(options, connection);
      const columns = options.columns.split(',').map((name) => name.trim());
      const { listCatalog } = await import('../catalog/show-catalog.ts');
      const { sort: order, limit } = options;
      await listCatalog(query, { ...options, columns, order, limit }, connection, context);
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
