import { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { examples } from '../help-text.ts';
import { askGateway } from '../connection/ask-gateway.ts';
import { deploymentTable } from '../deployments/deployment-table.ts';
import { newWorkOf } from '../deployments/new-work.ts';
import { registerDeployment } from '../deployments/register-deployment.ts';
import { removeDeployment } from '../deployments/remove-deployment.ts';
import { print, printJson } from '../output/print.ts';
import { withConnection } from './options.ts';

interface DeploymentOptions extends ConnectionFlags {
  json?: boolean;
}

interface RegisterOptions extends DeploymentOptions {
  force?: boolean;
  dryRun?: boolean;
  'useHttp1.1'?: boolean;
}

/** The words are those of Restate's own tool, `restate deployments`. */
export function deploymentsCommand(context: CliContext): Command {
  return new Command('deployments')
    .alias('dp')
    .summary('register, list and remove deployments of agents')
    .description('Manages the servers of agents that Restate knows. Needs a key for the registry.')
    .addCommand(registerCommand(context))
    .addCommand(listCommand(context))
    .addCommand(removeCommand(context));
}

function registerCommand(context: CliContext): Command {
  const command = new Command('register')
    .summary('register a server of agents')
    .description(
      'Restate discovers the agents at an address, and the command prints them. An address that is registered already ' +
        'changes nothing: the command says which deployment takes new work, and ends with 1 if another one does.',
    )
    .argument('<uri>', 'the address, as Restate reaches it, such as http://agents:9080')
    .option('--force', 'replace what is registered at this address; for development')
    .option('--use-http1.1', 'ask and call the address by HTTP/1.1, such as a server of uvicorn')
    .option('--dry-run', 'print what would be registered, and register nothing')
    .option('--json', 'print the whole response as JSON');
  return withConnection(command)
    .addHelpText(
      'after',
      examples(
        'agent-gateway deployments register http://127.0.0.1:9080 --dry-run',
        'agent-gateway deployments register http://127.0.0.1:9080 --force',
      ),
    )
    .action((uri: string, options: RegisterOptions) => {
      const { force = false, dryRun = false, 'useHttp1.1': useHttp11 = false, json } = options;
      const how = { force, dryRun, useHttp11, isJson: json === true };
      return askGateway(options, context, (gateway) =>
        registerDeployment(uri, how, gateway, context),
      );
    });
}

function listCommand(context: CliContext): Command {
  const command = new Command('list')
    .alias('ls')
    .summary('list the deployments')
    .description(
      'Prints every deployment: its id, its address, whether it takes new work, and its services. Where a newer deployment serves ' +
        'some of them, it names those of which it still takes new work.',
    )
    .option(
      '--json',
      'print a JSON array, with the services in newWork of which it takes new work',
    );
  return withConnection(command)
    .addHelpText(
      'after',
      examples(
        'agent-gateway deployments list',
        'agent-gateway deployments ls --json | jq -r ".[].id"',
      ),
    )
    .action((options: DeploymentOptions) =>
      askGateway(options, context, async ({ deployments }, signal) => {
        const [all, services] = await Promise.all([
          deployments.list({ signal }),
          deployments.services({ signal }),
        ]);
        const { stdout, notices } = context;
        if (options.json === true) {
          const shown = all.map((one) => ({ ...one, newWork: newWorkOf(one, services).own }));
          await printJson(stdout, shown);
        } else if (all.length === 0) {
          notices.say('No deployment is registered.');
        } else {
          await print(stdout, deploymentTable(all, services, stdout.columns));
        }
      }),
    );
}

function removeCommand(context: CliContext): Command {
  const command = new Command('remove')
    .alias('rm')
    .summary('remove a deployment')
    .description(
      'Removes a deployment from Restate. Invocations that need it fail, so Restate asks for --force.',
    )
    .argument('<id>', 'its id, as list prints it')
    .option('--force', 'required by Restate');
  return withConnection(command)
    .addHelpText(
      'after',
      examples('agent-gateway deployments remove dp_14LsPzGz9HBxXIeBoH5wYUh --force'),
    )
    .action((id: string, { force = false, ...options }: RegisterOptions) =>
      askGateway(options, context, (gateway) => removeDeployment(id, force, gateway, context)),
    );
}
