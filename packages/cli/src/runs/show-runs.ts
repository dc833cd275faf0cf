import { APIError, type ListRunsOptions } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { CliError, usageError } from '../cli-error.ts';
import { entityAddress, type Entity } from '../connection/address.ts';
import type { Connection } from '../connection/connection.ts';
import { failureInWords, failureOf } from '../connection/failure.ts';
import { refuseUnknown } from '../connection/known-agent.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { EXIT } from '../exit-codes.ts';
import { plainLine } from '../output/plain-text.ts';
import { print, printJsonLines } from '../output/print.ts';
import { endInWords, runsText } from './run-text.ts';

/** Prints what agents did for each message, and says what it has not looked at. Throws the `CliError` to end with. */
export async function showRuns(
  entity: Entity | undefined,
  options: ListRunsOptions,
  { json, steps }: { json?: boolean; steps?: boolean },
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const { stdout, notices, interrupted: signal } = context;
  const { runs, found, agentsLeftOut, problems } = await openGateway(connection)
    .runs.list({ ...options, ...(entity && { agent: entityAddress(entity) }), signal })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof TypeError) throw usageError(error.message);
      if (!(error instanceof APIError)) throw error;
      throw failureOf(error, connection);
    });
  signal.throwIfAborted();
  if (entity && runs.length === 0) {
    // Its own words are those of a command that was not sent.
    await refuseUnknown(entity, connection, context).catch((error: unknown) => {
      if (!(error instanceof CliError) || error.exitCode !== EXIT.notFound) throw error;
      const name = entityAddress({ ...entity, tenant: undefined });
      throw new CliError(EXIT.notFound, `Nothing is known of ${name}.`, undefined, {
        cause: error,
      });
    });
  }
  if (json === true) await printJsonLines(stdout, runs);
  else if (runs.length > 0) await print(stdout, runsText(runs, steps === true, stdout.columns));
  else notices.say('There is no such run.');
  if (json !== true) {
    for (const words of runs.map(endInWords)) if (words !== undefined) notices.say(words);
  }
  if (found > runs.length) notices.say(`${found - runs.length} more: see --limit.`);
  if (agentsLeftOut > 0) notices.say(`${agentsLeftOut} agents were not looked at: see --agents.`);
  for (const { agent = 'why runs fail', error } of problems) {
    notices.say(`Not read: ${plainLine(agent)}. ${failureInWords(error, connection)}`);
  }
}
