import { Command, Option } from 'commander';
import type { RunState } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { parseEntity } from '../connection/address.ts';
import { connect } from '../connection/ask-gateway.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { examples } from '../help-text.ts';
import { withConnection } from './options.ts';

interface RunsOptions extends ConnectionFlags {
  type?: string;
  state?: RunState;
  since?: string;
  until?: string;
  limit: number;
  agents: number;
  steps?: boolean;
  json?: boolean;
}

const STATES: readonly RunState[] = [
  'queued',
  'waiting',
  'writing',
  'asking',
  'failing',
  'done',
  'stopped',
  'failed',
  'refused',
];

export function runsCommand(context: CliContext): Command {
  const command = new Command('runs')
    .summary('list what agents did for each message')
    .description(
      'Prints each turn of an agent, or of all: when it began, how it ended, how long it took, how often it was tried, its steps and usage. Those ' +
        'that failed come first, then the newest.',
    )
    .argument('[address]', 'an agent, type/id or its URL; all of them without it')
    .option('--type <type>', 'only of agents of this type')
    .addOption(new Option('--state <state>', 'only runs in this state').choices(STATES))
    .option(
      '--since <time>',
      'only those under way at this time or later, such as 2026-11-28T12:00Z',
    )
    .option('--until <time>', 'only those that had come by this time')
    .addOption(countOption('--limit <count>', 'print at most this many runs'))
    .addOption(countOption('--agents <count>', 'read the timelines of at most this many agents'))
    .option('--steps', 'print the steps of each run below it')
    .option('--json', 'print whole runs as JSON, one per line');
  return withConnection(command)
    .addHelpText(
      'after',
      examples(
        'agent-gateway runs',
        'agent-gateway runs assistant/ada --steps',
        'agent-gateway runs --state failed --since 2026-01-01',
        'agent-gateway runs --json | jq .durationMs',
      ),
    )
    .action(async (address: string | undefined, options: RunsOptions) => {
      const connection = await connect(options, context);
      const { type, state, since, until, limit, agents: maxAgents } = options;
      const entity = address === undefined ? undefined : parseEntity(address, connection);
      const { showRuns } = await import('../runs/show-runs.ts');
      const which = {
        ...(type !== undefined && { type }),
        ...(state !== undefined && { state }),
        ...(since !== undefined && { since }),
        ...(until !== undefined && { until }),
        limit,
        maxAgents,
      };
      await showRuns(entity, which, options, connection, context);
    });
}

function countOption(flags: string, description: string): Option {
  const [name = ''] = flags.split(' ');
  return new Option(flags, description).default(100).argParser((text) => {
    if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError(`${name} must be a number from 1 on.`);
    return Number(text);
  });
}
