import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { examples } from '../help-text.ts';
import { commandAgent } from './command-agent.ts';
import { withCommandOptions, type CommandOptions } from './issue-command.ts';
import { withConnection, withRetry } from './options.ts';

interface TurnOptions extends CommandOptions {
  reason?: string;
}

export function stopCommand(context: CliContext): Command {
  const command = new Command('stop')
    .summary('end one turn of an agent')
    .description(
      'Ends one turn and no other: the turn under way, or one that waits. Nothing happens if the turn has ended.',
    );
  return turnCommand('stop', command, context);
}

export function withdrawCommand(context: CliContext): Command {
  const command = new Command('withdraw')
    .summary('take back a message that has not begun')
    .description(
      'Takes a message back that waits for other turns, or a reminder. Nothing happens if its turn has begun.',
    );
  return turnCommand('withdraw', command, context);
}

function turnCommand(verb: 'stop' | 'withdraw', command: Command, context: CliContext): Command {
  command
    .argument('<address>', 'the agent: type/id, or its URL /t/<tenant>/a/<type>/<id>')
    .argument('<turn>', 'the turn: the invocation (inv_…) that send printed')
    .option('--reason <text>', 'why, for the timeline');
  const turn = 'inv_1jHZDkSGVQI81DYWPVVPE4iFTa4tUpB7aR';
  return withConnection(withRetry(withCommandOptions(command)))
    .addHelpText(
      'after',
      examples(
        `agent-gateway ${verb} assistant/ada ${turn}`,
        `agent-gateway ${verb} assistant/ada ${turn} --reason "asked twice"`,
      ),
    )
    .action((address: string, invocation: string, options: TurnOptions) => {
      if (!/^inv_\w+$/.test(invocation)) {
        throw usageError(
          `"${invocation}" is no turn: give its invocation (inv_…), as send prints it.`,
        );
      }
      const { reason } = options;
      return commandAgent(
        address,
        ({ agents }, agent, how) =>
          agents[verb](agent, invocation, { ...how, ...(reason !== undefined && { reason }) }),
        options,
        context,
      );
    });
}
