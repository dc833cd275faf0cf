import type {
  AcceptedCommand,
  AgentGateway,
  CommandOptions as LibraryOptions,
} from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { entityAddress, parseEntity } from '../connection/address.ts';
import { connect } from '../connection/ask-gateway.ts';
import type { Connection } from '../connection/connection.ts';
import { refuseUnknown } from '../connection/known-agent.ts';
import {
  acceptedInWords,
  issueCommand,
  printAnswer,
  type CommandOptions,
  type CreateOption,
} from './issue-command.ts';

type Send = (
  gateway: AgentGateway,
  agent: string,
  options: LibraryOptions,
) => Promise<AcceptedCommand>;

/** Sends a command to one entity that exists, unless `create` says that it need not, and prints the response. Throws a `CliError`. */
export async function commandAgent(
  address: string,
  send: Send,
  options: CommandOptions & CreateOption,
  context: CliContext,
): Promise<void> {
  const connection = await connect(options, context);
  const entity = parseEntity(address, connection);
  if (options.create !== true) await refuseUnknown(entity, connection, context);
  await sendTo(entityAddress(entity), send, options, connection, context);
}

/** Sends a command to an agent, `type/id` or its URL, and prints the response. Throws a `CliError`. */
export async function sendTo(
  agent: string,
  send: Send,
  options: CommandOptions,
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const answer = await issueCommand(
    (gateway, how) => send(gateway, agent, how),
    options,
    connection,
    context,
  );
  await printAnswer(answer, acceptedInWords(answer), options, context);
}
