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
  allowHttp?: boolean;
}

export function profileCommand(context: CliContext): Command {
  return new Command('profile')
    .summary('store addresses and keys of gateways by name')
    .description(
      'Manages the configuration file. Each gateway in it has a name, an address and a key.',
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
      'Asks for the key without showing it, or reads it from standard input. Tries the key at the gateway, and writes ' +
        'the profile to a file that only you can read. The first profile becomes the default.',
    )
    .argument('<name>', 'the name of the profile')
    .requiredOption('--url <url>', 'the address of the gateway')
    .option('--tenant <name>', "the tenant, if it is not the gateway's default")
    .option('--key-file <file>', 'store the path of this file, and read the key from it each time')
    .option(
      '--scopes <scopes>',
      'the scopes that the key should have; doctor warns if it opens more',
    )
    .option('--no-check', 'do not try the key')
    .option('--allow-http', 'let the key go over http:// to another machine')
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
    .summary('choose the default profile')
    .description('Sets the profile for commands without a flag or variable that names a gateway.')
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
    .description('Prints the name, address, tenant and key file of each profile. It prints no key.')
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
    .description('Removes a profile and its key. It does not remove a key file.')
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
