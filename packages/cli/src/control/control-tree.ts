import type { EntityRow } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { CliError } from '../cli-error.ts';
import type { Connection } from '../connection/connection.ts';
import { failureOf } from '../connection/failure.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { SingleAttempt } from '../connection/single-attempt.ts';
import { plainLine } from '../output/plain-text.ts';
import { descendantsOf } from './descendants.ts';

/** An agent that has just been told may have spawned another one before. */
const MOST_LOOKS = 5;

/**
 * Gives a command to an agent, then to all that it spawned, parents first: one that is paused spawns no more. An agent that is archived stays so,
 * and is left out. What one refuses keeps no other from getting it. Throws a `CliError` before anything is sent if the catalog does not answer, and
 * the first refusal at the end.
 */
export async function controlTree(
  url: string,
  send: (url: string) => Promise<void>,
  connection: Connection,
  context: CliContext,
): Promise<void> {
  const told = new Set<string>();
  const refusals: CliError[] = [];
  let below = await allBelow(url, connection, context);
  for (let look = 1; ; look += 1) {
    const isRoot = look === 1 ? [url] : [];
    const others = below.filter(({ status }) => status !== 'archived').map((row) => row.url);
    const left = [...isRoot, ...others].filter((one) => !told.has(one));
    if (left.length === 0 || look > MOST_LOOKS) break;
    for (const one of left) {
      told.add(one);
      await send(one).catch((error: unknown) => {
        if (!(error instanceof CliError)) throw error;
        context.notices.say(`${plainLine(one)}: ${error.message}`);
        refusals.push(error);
      });
    }
    below = await allBelow(url, connection, context);
  }
  const [first] = refusals;
  if (first === undefined) return;
  const message = `${refusals.length} of ${told.size} agents did not get it.`;
  throw new CliError(first.exitCode, message, first.hint, { cause: first });
}

async function allBelow(
  url: string,
  connection: Connection,
  { interrupted }: CliContext,
): Promise<EntityRow[]> {
  const attempt = new SingleAttempt(interrupted);
  let rows: readonly EntityRow[] = [];
  try {
    const catalog = openGateway(connection).catalog({ live: false, ...attempt.options });
    for await (const read of catalog) rows = read;
    attempt.throwIfFailed();
  } catch (error) {
    interrupted.throwIfAborted();
    throw failureOf(error, connection, '--tree needs the catalog, which says who spawned whom.');
  }
  interrupted.throwIfAborted();
  return descendantsOf(url, rows);
}
