import { APIError, type AgentGateway } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { openConnection, type Connection, type ConnectionFlags } from './connection.ts';
import { failureOf } from './failure.ts';
import { openGateway } from './open-gateway.ts';

/** Opens the connection that these options name, and prints its warnings. */
export async function connect(flags: ConnectionFlags, context: CliContext): Promise<Connection> {
  const connection = await openConnection(flags, context);
  if (connection.credential) context.notices.keepSecret(connection.credential.value);
  for (const warning of connection.warnings) context.notices.say(`Warning: ${warning}`);
  return connection;
}

/** Runs a task with the gateway that these options name. Throws a `CliError` for a refusal. */
export async function askGateway<T>(
  flags: ConnectionFlags,
  context: CliContext,
  work: (gateway: AgentGateway, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const connection = await connect(flags, context);
  try {
    return await work(openGateway(connection), context.interrupted);
  } catch (error) {
    context.interrupted.throwIfAborted();
    if (error instanceof TypeError) throw usageError(error.message);
    if (!(error instanceof APIError)) throw error;
    throw failureOf(error, connection);
  }
}
