import { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { APIError, type AgentGateway } from '../../../client/src/index.ts';
import { agentOf } from '../../../client/src/failures.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { DEFAULT_TENANT, entityAddress, parseEntity } from '../connection/address.ts';
import { askGateway } from '../connection/ask-gateway.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { rowOf } from '../connection/single-attempt.ts';
import { entityUrl } from '../gateway-rules.ts';
import { examples } from '../help-text.ts';
import { plainLine } from '../output/plain-text.ts';
import { print } from '../output/print.ts';
import { withConnection } from './options.ts';

interface CancelOptions extends ConnectionFlags {
  kill?: boolean;
}

/** The most invocations that one call cancels, so that a user can review them. */
const MAX_INVOCATIONS = 100;
/** Among so many of the oldest invocations the command looks for one by its id, to name its target. */
const MOST_LOOKED_AT = 1_000;
/** The time for an agent to clean up after its work was cancelled. */
const CLEAN_UP_MS = 3_000;
const PAUSE_MS = 100;

export function cancelCommand(context: CliContext): Command {
  const command = new Command('cancel')
    .summary('end an invocation that hangs')
    .description(
      'Cancels an invocation, or all open invocations of an entity. The agent gets an error and can clean up. If its row ' +
        'says afterwards that it runs although nothing of it does, it is interrupted. Needs a key for the registry.',
    )
    .argument('<what>', 'an invocation (inv_…), or an entity: type/id')
    .option('--kill', 'end it at once, without a chance for the agent to clean up');
  return withConnection(command)
    .addHelpText(
      'after',
      examples(
        'agent-gateway cancel inv_1jHZDkSGVQI81DYWPVVPE4iFTa4tUpB7aR',
        'agent-gateway cancel assistant/ada --kill',
      ),
    )
    .action((what: string, options: CancelOptions) => cancel(what, options, context));
}

async function cancel(what: string, options: CancelOptions, context: CliContext): Promise<void> {
  const isInvocation = what.startsWith('inv_');
  if (!isInvocation && !what.includes('/')) {
    throw usageError(`"${what}" is neither an invocation (inv_…) nor an entity (type/id).`);
  }
  // The tenant does not matter: a deployment has one, and Restate knows entities by type and id.
  const agent = isInvocation ? undefined : entityAddress(parseEntity(what, { tenant: undefined }));
  const done = options.kill === true ? 'killed' : 'cancelled';
  await askGateway(options, context, async (gateway, signal) => {
    const found = await open(gateway, what, agent, signal);
    if (found.length === 0) context.notices.say('It has no invocation that has not ended.');
    for (const { id, target } of found) {
      const isThere = await end(gateway, id, options, signal).then(
        () => true,
        (error: unknown) => {
          // One of several invocations has ended in the meantime.
          if (isInvocation || !(error instanceof APIError) || error.status !== 404) throw error;
          return false;
        },
      );
      const name = target === '' ? plainLine(id) : `${plainLine(id)}  ${plainLine(target)}`;
      await print(context.stdout, `${name}: ${isThere ? done : 'has ended by itself'}\n`);
    }
    const agents = new Set(agent === undefined ? found.map(agentOf).filter(Boolean) : [agent]);
    for (const address of agents) await wakeUp(gateway, address, options, context);
  });
}

interface Found {
  id: string;
  /** Empty where Restate does not list the invocation. */
  target: string;
  invokedBy: string | undefined;
}

async function open(
  { invocations }: AgentGateway,
  what: string,
  agent: string | undefined,
  signal: AbortSignal,
): Promise<Found[]> {
  if (agent !== undefined) return invocations.list({ agent, limit: MAX_INVOCATIONS, signal });
  const all = await invocations.list({ limit: MOST_LOOKED_AT, signal });
  const found = all.find(({ id }) => id === what);
  return [found ?? { id: what, target: '', invokedBy: undefined }];
}

function end(
  { invocations }: AgentGateway,
  id: string,
  { kill }: CancelOptions,
  signal: AbortSignal,
): Promise<void> {
  return kill === true ? invocations.kill(id, { signal }) : invocations.cancel(id, { signal });
}

/**
 * Interrupts an agent whose row says that it works although nothing of it is open any more. What was killed cannot
 * write that it has ended: an agent would wait for it without end, or begin once more.
 */
async function wakeUp(
  gateway: AgentGateway,
  agent: string,
  { tenant, kill }: CancelOptions,
  context: CliContext,
): Promise<void> {
  const [type = '', id = ''] = agent.split('/');
  const url = entityUrl({ tenant: tenant ?? DEFAULT_TENANT, type, id });
  const { interrupted: signal, stdout } = context;
  const giveUpAtMs = performance.now() + CLEAN_UP_MS;
  while (
    kill !== true &&
    (await gateway.invocations.list({ agent, limit: 1, signal })).length > 0
  ) {
    if (performance.now() > giveUpAtMs) return;
    await delay(PAUSE_MS, undefined, { signal });
  }
  try {
    const row = await rowOf(gateway, url, signal);
    if (row?.status !== 'running' && row?.status !== 'failing') return;
    await gateway.agents.control(agent, 'interrupt', { reason: 'its work was cancelled', signal });
  } catch (error) {
    // A key that does not open the catalog or commands, or an agent without that handler.
    if (!(error instanceof APIError)) throw error;
    context.notices.say(`${agent} may still be said to run: ${plainLine(error.detail)}`);
    return;
  }
  await print(stdout, `${plainLine(agent)}: interrupted, so that it does not begin again\n`);
}
