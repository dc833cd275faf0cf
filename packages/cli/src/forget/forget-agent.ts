import type { AgentGateway, ForgetReceipt } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { CliError } from '../cli-error.ts';
import type { ForgetFlags } from '../commands/forget-command.ts';
import { entityAddress, parseEntity, type Entity } from '../connection/address.ts';
import { connect } from '../connection/ask-gateway.ts';
import type { Connection } from '../connection/connection.ts';
import { failureOf } from '../connection/failure.ts';
import { refuseUnknown } from '../connection/known-agent.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { EXIT } from '../exit-codes.ts';
import { localTime } from '../output/local-time.ts';
import { plainLine } from '../output/plain-text.ts';
import { print, printJson } from '../output/print.ts';
import { confirm } from './confirm.ts';

/** Deletes an agent once that is confirmed, and prints the receipt. Throws a `CliError`. */
export async function forgetAgent(
  address: string,
  { children = false, yes = false, ...options }: ForgetFlags,
  context: CliContext,
): Promise<void> {
  const connection = await connect(options, context);
  const entity = parseEntity(address, connection);
  const name = entityAddress({ ...entity, tenant: undefined });
  if (!yes) {
    const whose = children ? `${name} and the agents that it spawned` : name;
    await confirm(`This deletes ${whose} at ${connection.url}, for good.`, name, context);
  }
  const { interrupted: signal, stdout } = context;
  const gateway = openGateway(connection);
  try {
    await refuseNeverKnown(entity, gateway, connection, context);
    const receipt = await gateway.agents.forget(entityAddress(entity), { children, signal });
    if (!isComplete(receipt)) context.exitCode = EXIT.failed;
    if (options.json === true) await printJson(stdout, receipt);
    else await print(stdout, inWords(receipt));
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(error, connection);
  }
}

/** One that is forgotten already has nothing but its mark. To forget it again may delete what was left. */
async function refuseNeverKnown(
  entity: Entity,
  { invocations }: AgentGateway,
  connection: Connection,
  context: CliContext,
): Promise<void> {
  try {
    await refuseUnknown(entity, connection, context);
  } catch (error) {
    const isUnknown = error instanceof CliError && error.exitCode === EXIT.notFound;
    const options = { signal: context.interrupted };
    const agent = entityAddress({ ...entity, tenant: undefined });
    if (!isUnknown || (await invocations.stateOf(agent, 'entity', options)) === undefined) {
      throw error;
    }
  }
}

function isComplete({ timeline, remaining }: ForgetReceipt): boolean {
  return timeline === 'deleted' && remaining.length === 0;
}

function inWords({ agent, at, ...receipt }: ForgetReceipt): string {
  const { timeline, row, invocations, remaining, children } = receipt;
  const left = remaining.length === 0 ? '' : `, not deleted: ${remaining.join(', ')}`;
  const facts: [string, string][] = [
    ['timeline', timeline],
    ['row', row],
    ['invocations', `${invocations} deleted${left}`],
    ['children', children.length === 0 ? 'none' : `asked, too: ${children.join(', ')}`],
  ];
  return [
    `${plainLine(agent)}: forgotten at ${localTime(at) ?? plainLine(at)}\n`,
    ...facts.map(([fact, text]) => `  ${fact.padEnd(11)}  ${plainLine(text)}\n`),
  ].join('');
}
