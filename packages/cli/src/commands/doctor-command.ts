import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { examples } from '../help-text.ts';
import { connect } from '../connection/ask-gateway.ts';
import { withConnection } from './options.ts';

interface DoctorOptions extends ConnectionFlags {
  json?: boolean;
}

export function doctorCommand(context: CliContext): Command {
  const command = new Command('doctor')
    .summary('say what works and what does not')
    .description(
      'Checks the gateway, the clocks, the key and the servers behind the gateway. Prints a line for each, with what ' +
        'to do. It changes nothing.',
    )
    .option('--json', 'print the findings as JSON');
  return withConnection(command)
    .addHelpText(
      'after',
      examples(
        'agent-gateway doctor',
        'agent-gateway doctor --url https://gateway.example --key-file key',
        `agent-gateway doctor --json | jq '.findings[] | select(.state == "bad")'`,
      ),
    )
    .action(async (options: DoctorOptions) => {
      const connection = await connect(options, context);
      const { runDoctor } = await import('../doctor/run-doctor.ts');
      await runDoctor(options, connection, context);
    });
}
