import { Command } from 'commander';
import type { AcceptedCommand, SpawnRequest } from '../../../client/src/index.ts';
import { entityUrl } from '../gateway-rules.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { DEFAULT_TENANT, parseEntity, parseType } from '../connection/address.ts';
import type { Connection } from '../connection/connection.ts';
import { parseJson, readInput } from './body.ts';
import {
  acceptedInWords,
  addressOf,
  issueCommand,
  printAnswer,
  withCommandOptions,
  type CommandOptions,
} from './issue-command.ts';
import { examples } from '../help-text.ts';
import { connect } from '../connection/ask-gateway.ts';
import { withConnection, withRetry } from './options.ts';

interface SpawnOptions extends CommandOptions {
  args?: string;
  argsFile?: string;
  parent?: string;
  workspaceRef?: string;
  tail?: boolean;
}

export function spawnCommand(context: CliContext): Command {
  const command = new Command('spawn')
    .summary('create an entity')
    .description(
      'Creates an entity and prints its address, type/id. Without an id it gets a new one. An existing entity does ' +
        'not change.',
    )
    .argument('<type[/id]>', 'what to create, such as assistant or assistant/ada')
    .option('--args <json>', 'spawn arguments for the agent')
    .option('--args-file <file>', 'the same from a file; - for standard input')
    .option('--parent <address>', 'its parent entity')
    .option('--workspace-ref <tenant/name>', 'a shared workspace for it')
    .option('--tail', 'follow its timeline from the start, until Ctrl-C');
  return withConnection(withRetry(withCommandOptions(command)))
    .addHelpText(
      'after',
      examples(
        'agent-gateway spawn assistant/ada',
        `agent-gateway spawn assistant --args '{"greeting":"hello"}' --json`,
        'id=$(agent-gateway spawn assistant) && agent-gateway send "$id" "Hello"',
      ),
    )
    .action((what: string, options: SpawnOptions) => spawn(what, options, context));
}

async function spawn(what: string, options: SpawnOptions, context: CliContext): Promise<void> {
  const connection = await connect(options, context);
  const { tenant, request } = await spawnRequest(what, options, connection, context);
  const answer = await issueCommand(
    ({ agents }, how) => agents.spawn(request, how),
    options,
    { ...connection, tenant },
    context,
  );
  if (options.tail !== true) {
    await printAnswer(answer, addressOf(answer), options, context);
    return;
  }
  context.notices.say(`${acceptedInWords(answer)}.`);
  const { showStream } = await import('../timeline/show-stream.ts');
  const read = { path: pathOf(answer), from: 'start', follow: true, waitForStream: true };
  await showStream(read, options, connection, context);
}

async function spawnRequest(
  what: string,
  options: SpawnOptions,
  connection: Connection,
  context: CliContext,
): Promise<{ tenant: string | undefined; request: SpawnRequest }> {
  const entity = what.includes('/') ? parseEntity(what, connection) : undefined;
  const tenant = entity ? entity.tenant : connection.tenant;
  const { args, argsFile, parent, workspaceRef } = options;
  if (args !== undefined && argsFile !== undefined) {
    throw usageError('--args and --args-file are both given: give one of them.');
  }
  const fromFile = argsFile === undefined ? undefined : await readInput(argsFile, context);
  const argsText = args ?? fromFile?.toString('utf8');
  const request = {
    type: entity?.type ?? parseType(what),
    ...(entity && { id: entity.id }),
    ...(argsText !== undefined && { args: parseJson(argsText, 'The spawn arguments') }),
    ...(parent !== undefined && { parent: parentUrl(parent, connection) }),
    ...(workspaceRef !== undefined && { workspaceRef }),
  };
  return { tenant, request };
}

/** The response has the gateway's public address, which may differ from the one that this program uses. */
function pathOf({ streamPath }: AcceptedCommand): string {
  return `/streams${streamPath}`;
}

function parentUrl(parent: string, connection: Connection): string {
  const { tenant = DEFAULT_TENANT, ...entity } = parseEntity(parent, connection);
  return entityUrl({ tenant, ...entity });
}
