import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { examples } from '../help-text.ts';

export interface AddProfileOptions {
  url: string;
  tenant?: string;
  keyFile?: string;
  scopes?: string;
  check: boolean;
  config?: string;
}

export function profileCommand(context: CliContext): Command {
  return new Command('profile')
    .summary('keep the addresses and keys of gateways by name')
    .description(
      'Writes the configuration file, in which each gateway has a name, an address and a key.',
    )
    .addCommand(addCommand(context))
    .addCommand(useCommand(context))
    .addCommand(listCommand(context))
    .addCommand(removeCommand(context));
}

function addCommand(context: CliContext): Command {
  return withConfig(new Command('add'))
    .summary('add or replace a profile')
    .description(
      'Asks for the key, without showing it, or reads it from standard input; tries it at the gateway; and writes the ' +
        'profile into a file that only you can read. The first profile is the one that is used where none is named.',
    )
    .argument('<name>', 'what it is to be called')
    .requiredOption('--url <url>', 'the address of the gateway')
    .option('--tenant <name>', "the tenant, where it is not the gateway's default")
    .option('--key-file <file>', 'leave the key in this file, and read it from there each time')
    .option('--scopes <scopes>', 'what the key is meant for; doctor warns of one that opens more')
    .option('--no-check', 'do not try the key')
    .addHelpText(
      'after',
      examples(
        'agent-gateway profile add local --url http://127.0.0.1:8787 < key-file',
        'agent-gateway profile add prod --url https://gateway.example --key-file key-file --no-check',
      ),
    )
    .action(async (name: string, options: AddProfileOptions) => {
      const { addProfile } = await import('../profiles/profile-actions.ts');
      await addProfile(name, options, context);
    });
}

function useCommand(context: CliContext): Command {
  return withConfig(new Command('use'))
    .summary('choose the profile that is used where none is named')
    .description(
      'Names the profile that counts where neither a flag nor the environment names a gateway.',
    )
    .argument('<name>', 'the profile')
    .addHelpText('after', examples('agent-gateway profile use local'))
    .action(async (name: string, { config }: { config?: string }) => {
      const { useProfile } = await import('../profiles/profile-actions.ts');
      await useProfile(name, config, context);
    });
}

function listCommand(context: CliContext): Command {
  return withConfig(new Command('list'))
    .alias('ls')
    .summary('list the profiles')
    .description('Prints the profiles: name, address, tenant, where the key is. No key is printed.')
    .addHelpText('after', examples('agent-gateway profile list'))
    .action(async ({ config }: { config?: string }) => {
      const { listProfiles } = await import('../profiles/profile-actions.ts');
      await listProfiles(config, context);
    });
}

function removeCommand(context: CliContext): Command {
  return withConfig(new Command('remove'))
    .alias('rm')
    .summary('remove a profile')
    .description('Removes a profile, and the key with it where the profile holds one.')
    .argument('<name>', 'the profile')
    .addHelpText('after', examples('agent-gateway profile remove local'))
    .action(async (name: string, { config }: { config?: string }) => {
      const { removeProfile } = await import('../profiles/profile-actions.ts');
      await removeProfile(name, config, context);
    });
}

function withConfig(command: Command): Command {
  return command.option('--config <file>', 'the configuration file');
}
