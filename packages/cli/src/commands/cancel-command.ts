import { Command } from 'commander';
import { APIError } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { usageError } from '../cli-error.ts';
import { entityAddress, parseEntity } from '../connection/address.ts';
import { askGateway } from '../connection/ask-gateway.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { examples } from '../help-text.ts';
import { plainLine } from '../output/plain-text.ts';
import { write } from '../output/write.ts';
import { withConnection } from './options.ts';

interface CancelOptions extends ConnectionFlags {
  kill?: boolean;
}

/** The most invocations that one call cancels, so that a user can review them. */
const MAX_INVOCATIONS = 100;

export function cancelCommand(context: CliContext): Command {
  const command = new Command('cancel')
    .summary('end an invocation that hangs')
    .description(
      'Cancels an invocation, or all open invocations of an entity. The agent gets an error and can clean up. Needs a ' +
        'key for the registry.',
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
  const agent = isInvocation ? '' : entityAddress(parseEntity(what, { tenant: undefined }));
  await askGateway(options, context, async ({ invocations }, signal) => {
    const end = (id: string): Promise<void> =>
      options.kill === true ? invocations.kill(id, { signal }) : invocations.cancel(id, { signal });
    const done = options.kill === true ? 'killed' : 'cancelled';
    const ids = isInvocation
      ? [what]
      : (await invocations.list({ agent, limit: MAX_INVOCATIONS, signal })).map(({ id }) => id);
    if (ids.length === 0) context.notices.say('It has no invocation that has not ended.');
    for (const id of ids) {
      const isThere = await end(id).then(
        () => true,
        (error: unknown) => {
          // One of several invocations has ended in the meantime.
          if (isInvocation || !(error instanceof APIError) || error.status !== 404) throw error;
          return false;
        },
      );
      await write(context.stdout, `${plainLine(id)}: ${isThere ? done : 'has ended by itself'}\n`);
    }
  });
}
