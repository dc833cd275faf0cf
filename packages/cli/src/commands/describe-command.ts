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
    .summary('show the state of an entity')
    .description(
      'Prints the row of an entity in the catalog, the last events of its timeline, and its open invocations. It names ' +
        'the parts that the key does not open.',
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
