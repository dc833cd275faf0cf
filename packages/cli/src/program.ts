import { Command } from 'commander';
import type { CliContext } from './cli-context.ts';
import { cancelCommand } from './commands/cancel-command.ts';
import { completionCommand } from './commands/completion-command.ts';
import { controlCommand } from './commands/control-command.ts';
import { decideCommand } from './commands/decide-command.ts';
import { deploymentsCommand } from './commands/deployments-command.ts';
import { describeCommand } from './commands/describe-command.ts';
import { doctorCommand } from './commands/doctor-command.ts';
import { exportCommand } from './commands/export-command.ts';
import { forgetCommand } from './commands/forget-command.ts';
import { keysCommand } from './commands/keys-command.ts';
import { lsCommand } from './commands/ls-command.ts';
import { profileCommand } from './commands/profile-command.ts';
import { runsCommand } from './commands/runs-command.ts';
import { sendMessageCommand } from './commands/send-command.ts';
import { spawnCommand } from './commands/spawn-command.ts';
import { tailCommand } from './commands/tail-command.ts';
import { tokenCommand } from './commands/token-command.ts';
import { stopCommand, withdrawCommand } from './commands/turn-commands.ts';
import { watchCommand } from './commands/watch-command.ts';
import { packageVersion } from './version.ts';
import { EXIT_CODE_MEANINGS } from './exit-codes.ts';
import { examples, helpWidth, paragraph, termList } from './help-text.ts';
import { lookOf } from './output/print.ts';

const SETTINGS: readonly (readonly [string, string])[] = [
  ['1. flags', '--url, --key-file (or --key), --tenant'],
  ['2. the profile of --profile', 'agent-gateway profile add makes one'],
  [
    '3. the environment',
    'AGENT_GATEWAY_URL, AGENT_GATEWAY_KEY or AGENT_GATEWAY_KEY_FILE, AGENT_GATEWAY_TENANT; then GATEWAY_URL, ' +
      'GATEWAY_API_KEY, GATEWAY_TENANT, as npm run local prints them',
  ],
  ['4. a usual profile', 'the one of AGENT_GATEWAY_PROFILE, or of agent-gateway profile use'],
];

/** The command line with all its commands. */
export function createProgram(context: CliContext): Command {
  const program = new Command('agent-gateway')
    .description('Commands, timelines and the catalog of long-lived AI agents, from a terminal.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpCommand('help [command]', 'print how a command is used')
    .addHelpText(
      'after',
      examples(
        'agent-gateway doctor',
        'agent-gateway spawn assistant/ada',
        'agent-gateway send assistant/ada "Hello, who are you?" --tail',
        'agent-gateway tail assistant/ada',
        'agent-gateway ls',
      ),
    )
    .addHelpText('after', () => {
      const width = helpWidth(context.stdout);
      const settings = termList(
        'Which gateway, and as whom; what stands first counts:',
        SETTINGS,
        width,
      );
      const keys =
        'A key is an API key, or for tail, ls, watch and describe a read token. A key that is given together with an ' +
        'address goes to that address only.';
      const codes = termList('Exit codes:', EXIT_CODE_MEANINGS, width);
      return `${settings}\n\n${paragraph(keys, width)}\n${codes}`;
    })
    .commandsGroup('Agents:')
    .addCommand(spawnCommand(context))
    .addCommand(sendMessageCommand(context))
    .addCommand(controlCommand(context))
    .addCommand(decideCommand(context))
    .addCommand(stopCommand(context))
    .addCommand(withdrawCommand(context))
    .addCommand(tailCommand(context))
    .addCommand(lsCommand(context))
    .addCommand(watchCommand(context))
    .addCommand(describeCommand(context))
    .addCommand(runsCommand(context))
    .addCommand(cancelCommand(context))
    .addCommand(exportCommand(context))
    .addCommand(forgetCommand(context))
    .commandsGroup('Operation:')
    .addCommand(deploymentsCommand(context))
    .addCommand(doctorCommand(context))
    .addCommand(profileCommand(context))
    .addCommand(tokenCommand(context))
    .addCommand(keysCommand(context))
    .addCommand(completionCommand(context));
  dress(program, 'agent-gateway', context);
  return program;
}

/** Settings that commander passes on only to subcommands that it created itself. */
function dress(command: Command, path: string, context: CliContext): void {
  const { stdout, notices } = context;
  const look = lookOf(stdout);
  command
    .exitOverride()
    .configureHelp({ styleTitle: (title) => look('bold', title) })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: () => undefined,
      outputError: (text) => {
        // The value of `--flag=value` is not repeated, because it may be a key.
        const said = text.replace(/^error: /, '').replace(/(--?[\w-]+)=[^\s']*/g, '$1');
        notices.say(said.trimEnd());
        notices.say(`How it is used: ${path} --help`);
      },
      getOutHasColors: () => true,
      getOutHelpWidth: () => helpWidth(stdout),
    });
  command.helpOption('-h, --help', 'print how it is used');
  for (const taken of [...command.options, ...command.registeredArguments]) {
    // Commander writes a default as JSON, in quotation marks that nobody should type.
    if (typeof taken.defaultValue === 'string') {
      taken.defaultValueDescription ??= taken.defaultValue;
    }
  }
  for (const subcommand of command.commands) {
    dress(subcommand, `${path} ${subcommand.name()}`, context);
  }
}
