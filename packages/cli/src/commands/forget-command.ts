import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { examples } from '../help-text.ts';
import { withConnection } from './options.ts';

export interface ForgetFlags extends ConnectionFlags {
  children?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function forgetCommand(context: CliContext): Command {
  const command = new Command('forget')
    .summary('delete an agent and all that it has written')
    .description(
      'Ends what an agent does, and deletes its timeline, its row, its state and its ended invocations, for good. The ' +
        'receipt says what is deleted. The exit code is 1 if something is left; then repeat the command. Needs a key ' +
        'for commands and the registry.',
    )
    .argument('<address>', 'the agent: type/id, or its URL /t/<tenant>/a/<type>/<id>')
    .option('--children', 'forget the agents that it spawned, too')
    .option('--yes', 'do not ask; required where nobody can answer')
    .option('--json', 'print the receipt as JSON');
  return withConnection(command)
    .addHelpText(
      'after',
      examples(
        'agent-gateway export assistant/old > old.jsonl && agent-gateway forget assistant/old --yes',
        'agent-gateway forget assistant/old --children --yes --json',
      ),
    )
    .action(async (address: string, options: ForgetFlags) => {
      const { forgetAgent } = await import('../forget/forget-agent.ts');
      await forgetAgent(address, options, context);
    });
}
