import { Argument, Command } from 'commander';
import type { ControlVerb } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { entityAddress, parseEntity } from '../connection/address.ts';
import {
  acceptedInWords,
  issueCommand,
  printAnswer,
  withCommandOptions,
  withCreate,
  type CommandOptions,
  type CreateOption,
} from './issue-command.ts';
import { examples } from '../help-text.ts';
import { connect } from '../connection/ask-gateway.ts';
import { refuseUnknown } from '../connection/known-agent.ts';
import { withConnection, withRetry } from './options.ts';

/** A spec compares them with those of the gateway. */
export const VERBS: readonly ControlVerb[] = ['interrupt', 'pause', 'resume', 'archive'];

interface ControlOptions extends CommandOptions, CreateOption {
  reason?: string;
}

export function controlCommand(context: CliContext): Command {
  const command = new Command('control')
    .summary('interrupt, pause, resume or archive an entity')
    .description('Applies a verb to an entity. The agent decides what the verb does.')
    .argument('<address>', 'the entity: type/id, or its URL /t/<tenant>/a/<type>/<id>')
    .addArgument(new Argument('<verb>', 'what to do').choices(VERBS))
    .option('--reason <text>', 'why, for the timeline');
  return withConnection(withRetry(withCommandOptions(withCreate(command))))
    .addHelpText(
      'after',
      examples(
        'agent-gateway control assistant/ada interrupt',
        'agent-gateway control assistant/ada pause --reason "lunch"',
      ),
    )
    .action(async (address: string, verb: ControlVerb, options: ControlOptions) => {
      const connection = await connect(options, context);
      const parsed = parseEntity(address, connection);
      const entity = entityAddress(parsed);
      if (options.create !== true) await refuseUnknown(parsed, connection, context);
      const { reason } = options;
      const answer = await issueCommand(
        ({ agents }, how) =>
          agents.control(entity, verb, { ...how, ...(reason !== undefined && { reason }) }),
        options,
        connection,
        context,
      );
      await printAnswer(answer, acceptedInWords(answer), options, context);
    });
}
