import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { parseEntity, timelineTarget } from '../connection/address.ts';
import { connect } from '../connection/ask-gateway.ts';
import { examples } from '../help-text.ts';
import { withConnection, withRetry, type ConnectedOptions } from './options.ts';

export function exportCommand(context: CliContext): Command {
  const command = new Command('export')
    .summary('print all that an agent has written')
    .description(
      'Prints all events of a timeline, from the first to the latest, as JSON, one per line, with decisions and usage. ' +
        'Then it ends.',
    )
    .argument('<address>', 'the agent: type/id, or its URL /t/<tenant>/a/<type>/<id>')
    .option('--json', 'the same, since the output is always JSON');
  return withConnection(withRetry(command))
    .addHelpText('after', examples('agent-gateway export assistant/ada > ada.jsonl'))
    .action(async (address: string, options: ConnectedOptions) => {
      const connection = await connect(options, context);
      const path = timelineTarget(parseEntity(address, connection));
      const { showStream } = await import('../timeline/show-stream.ts');
      const all = { path, from: 'start', follow: false, waitForStream: false };
      await showStream(all, { ...options, json: true }, connection, context);
    });
}
