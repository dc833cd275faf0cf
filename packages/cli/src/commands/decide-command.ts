import { Command } from 'commander';
import type { NewDecision } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { examples } from '../help-text.ts';
import { parseJson } from './body.ts';
import { commandAgent } from './command-agent.ts';
import { withCommandOptions, type CommandOptions } from './issue-command.ts';
import { withConnection, withRetry } from './options.ts';

interface DecideOptions extends CommandOptions {
  approve?: boolean;
  deny?: boolean;
  by?: string;
  note?: string;
  input?: string;
}

export function decideCommand(context: CliContext): Command {
  const command = new Command('decide')
    .summary('approve or deny a call that waits for a person')
    .description(
      'Decides a call of a tool that waits for a person. The first decision of a call counts. The agent refuses one for ' +
        'a call that does not wait, and says so on its timeline.',
    )
    .argument('<address>', 'the agent: type/id, or its URL /t/<tenant>/a/<type>/<id>')
    .argument('<call>', 'the id of the call, as tail prints it')
    .option('--approve', 'the tool runs')
    .option('--deny', 'the tool does not run, and the model gets the note')
    .option('--by <name>', 'who decides')
    .option('--note <text>', 'why, for the timeline, and for the model if the call is denied')
    .option('--input <json>', "the input that the tool gets in place of the model's");
  return withConnection(withRetry(withCommandOptions(command)))
    .addHelpText(
      'after',
      examples(
        'agent-gateway decide assistant/ada kPvizP8a.1 --approve --by ada',
        'agent-gateway decide assistant/ada kPvizP8a.1 --deny --note "ask for the receipt first"',
        `agent-gateway decide assistant/ada kPvizP8a.1 --approve --input '{"amount":20}'`,
      ),
    )
    .action((address: string, call: string, options: DecideOptions) => {
      const decision = decisionOf(call, options);
      return commandAgent(
        address,
        ({ agents }, agent, how) => agents.decide(agent, decision, how),
        options,
        context,
      );
    });
}

/** Throws a usage error. */
function decisionOf(call: string, options: DecideOptions): NewDecision {
  const { approve = false, deny = false, by, note, input } = options;
  if (call === '') throw usageError('The call has no id. agent-gateway tail prints it.');
  if (approve === deny) throw usageError('Give either --approve or --deny.');
  if (deny && input !== undefined) throw usageError('--input goes with --approve.');
  return {
    call,
    approved: approve,
    ...(by !== undefined && { by }),
    ...(note !== undefined && { note }),
    ...(input !== undefined && { input: parseJson(input, '--input') }),
  };
}
