import { Argument, Command } from 'commander';
import type { ControlVerb } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { commandAgent, sendTo } from './command-agent.ts';
import {
  withCommandOptions,
  withCreate,
  type CommandOptions,
  type CreateOption,
} from './issue-command.ts';
import { DEFAULT_TENANT, parseEntity } from '../connection/address.ts';
import { connect } from '../connection/ask-gateway.ts';
import { refuseUnknown } from '../connection/known-agent.ts';
import { CONTROL_VERBS, entityUrl } from '../gateway-rules.ts';
import { examples } from '../help-text.ts';
import { withConnection, withRetry } from './options.ts';

interface ControlOptions extends CommandOptions, CreateOption {
  reason?: string;
  tree?: boolean;
}

export function controlCommand(context: CliContext): Command {
  const command = new Command('control')
    .summary(`${CONTROL_VERBS.join(', ').replace(/, (?=[^,]*$)/, ' or ')} an entity`)
    .description(
      'Applies a verb to an entity. The agent decides what the verb does. With --tree it applies it to the agents that this one spawned, too.',
    )
    .argument('<address>', 'the entity: type/id, or its URL /t/<tenant>/a/<type>/<id>')
    .addArgument(new Argument('<verb>', 'what to do').choices(CONTROL_VERBS))
    .option('--reason <text>', 'why, for the timeline')
    .option('--tree', 'also all agents below it in the catalog, except archived ones');
  return withConnection(withRetry(withCommandOptions(withCreate(command))))
    .addHelpText(
      'after',
      examples(
        'agent-gateway control assistant/ada interrupt',
        'agent-gateway control assistant/ada pause --reason "lunch"',
        'agent-gateway control assistant/ada pause --tree',
      ),
    )
    .action((address: string, verb: ControlVerb, options: ControlOptions) =>
      options.tree === true
        ? tree(address, verb, options, context)
        : commandAgent(address, sendOf(verb, options), options, context),
    );
}

function sendOf(verb: ControlVerb, { reason }: ControlOptions): Parameters<typeof commandAgent>[1] {
  return ({ agents }, agent, how) =>
    agents.control(agent, verb, { ...how, ...(reason !== undefined && { reason }) });
}

async function tree(
  address: string,
  verb: ControlVerb,
  options: ControlOptions,
  context: CliContext,
): Promise<void> {
  const connection = await connect(options, context);
  const entity = parseEntity(address, connection);
  if (options.create !== true) await refuseUnknown(entity, connection, context);
  const { controlTree } = await import('../control/control-tree.ts');
  const { tenant = DEFAULT_TENANT, ...rest } = entity;
  const send = (url: string): Promise<void> =>
    sendTo(url, sendOf(verb, options), options, connection, context);
  await controlTree(entityUrl({ tenant, ...rest }), send, connection, context);
}
