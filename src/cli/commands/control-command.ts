import { Argument, Command } from 'commander';
import type { ControlDto } from '../../commands/dto/control.dto.ts';
import type { CliContext } from '../cli-context.ts';
import { commandPath, parseEntity } from '../connection/address.ts';
import {
  acceptedInWords,
  issueCommand,
  printAnswer,
  withCommandOptions,
  type CommandOptions,
} from './issue-command.ts';
import { connect, examples, withConnection, withRetry } from './options.ts';

/** Not taken from the DTO, which would load its validator; a spec holds the two together. */
export const VERBS: readonly ControlDto['verb'][] = ['interrupt', 'pause', 'resume', 'archive'];

interface ControlOptions extends CommandOptions {
  reason?: string;
}

export function controlCommand(context: CliContext): Command {
  const command = new Command('control')
    .summary('interrupt, pause, resume or archive an entity')
    .description('Applies a verb to an entity. What the verb does is up to the agent.')
    .argument('<address>', 'the entity: type/id, or its URL /t/<tenant>/a/<type>/<id>')
    .addArgument(new Argument('<verb>', 'what to do').choices(VERBS))
    .option('--reason <text>', 'why, for the timeline');
  return withConnection(withRetry(withCommandOptions(command)))
    .addHelpText(
      'after',
      examples(
        'agent-gateway control assistant/ada interrupt',
        'agent-gateway control assistant/ada pause --reason "lunch"',
      ),
    )
    .action(async (address: string, verb: string, options: ControlOptions) => {
      const connection = await connect(options, context);
      const path = commandPath(parseEntity(address, connection), 'control');
      const body = JSON.stringify({ verb, reason: options.reason });
      const issue = { path, body, contentType: 'application/json' };
      const answer = await issueCommand(issue, options, connection, context);
      await printAnswer(answer, acceptedInWords(answer), options, context);
    });
}
