import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { catalogQuery, withCatalogOptions, type CatalogOptions } from './catalog-options.ts';
import { examples } from '../help-text.ts';
import { connect } from '../connection/ask-gateway.ts';
import { withConnection, withRetry } from './options.ts';

interface WatchOptions extends CatalogOptions {
  changesOnly?: boolean;
}

export function watchCommand(context: CliContext): Command {
  const command = new Command('watch')
    .summary('watch the catalog change')
    .description(
      'Prints the rows of the catalog, and then a line for every row that is added (+), changed (~) or ' +
        'removed (-), until Ctrl-C. When the connection breaks or the engine restarts, it continues, and prints ' +
        'what has changed in between.',
    );
  withCatalogOptions(command)
    .option('--changes-only', 'do not print the rows of the start')
    .option('--json', 'print changes as JSON, one per line: operation, key, row, before');
  return withConnection(withRetry(command))
    .addHelpText(
      'after',
      examples(
        'agent-gateway watch',
        'agent-gateway watch --type assistant --changes-only',
        `agent-gateway watch --json | jq -r 'select(.operation == "update") | .row.url'`,
      ),
    )
    .action(async ({ changesOnly = false, ...options }: WatchOptions) => {
      const connection = await connect(options, context);
      const query = catalogQuery(options, connection);
      const { watchCatalog } = await import('../catalog/show-catalog.ts');
      await watchCatalog(query, { ...options, changesOnly }, connection, context);
    });
}
