import { Command } from 'commander';
import { USUAL_COLUMNS } from '../catalog/catalog-text.ts';
import type { CliContext } from '../cli-context.ts';
import { catalogQuery, withCatalogOptions, type CatalogOptions } from './catalog-options.ts';
import { connect, examples, withConnection, withRetry } from './options.ts';

interface LsOptions extends CatalogOptions {
  columns: string;
}

export function lsCommand(context: CliContext): Command {
  const command = new Command('ls')
    .summary('list the entities of the catalog')
    .description('Prints what the catalog holds now, a row a line.');
  withCatalogOptions(command)
    .option('--columns <names>', 'which columns, with commas between', USUAL_COLUMNS.join(','))
    .option('--json', 'print whole rows as JSON, one a line');
  return withConnection(withRetry(command))
    .addHelpText(
      'after',
      examples(
        'agent-gateway ls',
        'agent-gateway ls --type assistant --status running',
        'agent-gateway ls --parent assistant/ada --columns address,created_at',
        `agent-gateway ls --json --where "updated_at < $1" --param 2026-01-01 | jq -r .url`,
      ),
    )
    .action(async (options: LsOptions) => {
      const connection = await connect(options, context);
      const query = catalogQuery(options, connection);
      const columns = options.columns.split(',').map((name) => name.trim());
      const { listCatalog } = await import('../catalog/show-catalog.ts');
      await listCatalog(query, columns, options, connection, context);
    });
}
