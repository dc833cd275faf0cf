import { Command } from 'commander';
import type { Deployment } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { examples } from '../help-text.ts';
import { askGateway } from '../connection/ask-gateway.ts';
import { inColumns } from '../output/columns.ts';
import { compactJson } from '../output/json.ts';
import { plainLine } from '../output/plain-text.ts';
import { styleFor } from '../output/style.ts';
import { write } from '../output/write.ts';
import { withConnection } from './options.ts';

interface DeploymentOptions extends ConnectionFlags {
  json?: boolean;
}

interface RegisterOptions extends DeploymentOptions {
  force?: boolean;
  dryRun?: boolean;
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
      'Restate discovers the agents at an address, and the command prints them. It is safe to register the same ' +
        'address again.',
    )
    .argument('<uri>', 'the address, as Restate reaches it, such as http://agents:9080')
    .option('--force', 'replace what is registered at this address; for development')
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
    .action((uri: string, { force = false, dryRun = false, ...options }: RegisterOptions) =>
      askGateway(options, context, async ({ deployments }, signal) => {
        const deployment = await deployments.register(uri, { force, dryRun, signal });
        const words = `${line(deployment)}${dryRun ? '  (nothing is changed)' : ''}`;
        await write(context.stdout, `${options.json === true ? compactJson(deployment) : words}\n`);
      }),
    );
}

function listCommand(context: CliContext): Command {
  const command = new Command('list')
    .alias('ls')
    .summary('list the deployments')
    .description('Prints every deployment: its id, its address and its agents.')
    .option('--json', 'print a JSON array');
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
        const all = await deployments.list({ signal });
        if (options.json === true) await write(context.stdout, `${compactJson(all)}\n`);
        else if (all.length === 0) context.notices.say('No deployment is registered.');
        else await write(context.stdout, `${table(all, context).join('\n')}\n`);
      }),
    );
}

function removeCommand(context: CliContext): Command {
  const command = new Command('remove')
    .alias('rm')
    .summary('remove a deployment')
    .description('Removes a deployment from Restate. Invocations that need it fail.')
    .argument('<id>', 'its id, as list prints it')
    .option('--force', 'required by Restate');
  return withConnection(command)
    .addHelpText(
      'after',
      examples('agent-gateway deployments remove dp_14LsPzGz9HBxXIeBoH5wYUh --force'),
    )
    .action((id: string, { force = false, ...options }: RegisterOptions) =>
      askGateway(options, context, async ({ deployments }, signal) => {
        await deployments.remove(id, { force, signal });
        await write(context.stdout, `${plainLine(id)}: removed\n`);
      }),
    );
}

function table(deployments: readonly Deployment[], { stdout }: CliContext): string[] {
  const style = styleFor(stdout);
  const rows = deployments.map((deployment) => cells(deployment));
  const paint = (cell: string, row: number): string => (row === 0 ? style('bold', cell) : cell);
  return inColumns([['ID', 'ADDRESS', 'AGENTS'], ...rows], paint, stdout.columns);
}

function line(deployment: Deployment): string {
  return cells(deployment).join('  ');
}

function cells({ id, uri, services }: Deployment): [string, string, string] {
  const names = services.map(({ name }) => name).sort();
  return [plainLine(id), plainLine(uri ?? '–'), plainLine(names.join(', '))];
}
