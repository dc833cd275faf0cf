import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { examples } from '../help-text.ts';
import { withConnection } from './options.ts';

interface DescribeOptions extends ConnectionFlags {
  json?: boolean;
}

export function describeCommand(context: CliContext): Command {
  const command = new Command('describe')
    .summary('say how an entity is')
    .description(
      'Prints what is known of one entity: its row in the catalog, the last events of its timeline, and its invocations ' +
        'that have not ended, such as one that hangs. Parts that the key does not open are left out and named.',
    )
    .argument('<address>', 'the entity: type/id, or its URL /t/<tenant>/a/<type>/<id>')
    .option('--json', 'print it as JSON: row, events, invocations');
  return withConnection(command)
    .addHelpText(
      'after',
      examples(
        'agent-gateway describe assistant/ada',
        'agent-gateway describe assistant/ada --json | jq .invocations',
      ),
    )
    .action(async (address: string, options: DescribeOptions) => {
      const { describeEntity } = await import('../describe/describe-entity.ts');
      await describeEntity(address, options, context);
    });
}
