import type { AgentGateway, RegisterOptions } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { registeredServices } from '../connection/registered-types.ts';
import { EXIT } from '../exit-codes.ts';
import { plainLine } from '../output/plain-text.ts';
import { print, printJson } from '../output/print.ts';
import { deploymentLine } from './deployment-table.ts';
import { newWorkOf, type NewWork } from './new-work.ts';

/**
 * Registers a server of agents and prints what it serves. One that is registered already changes nothing: if another deployment takes new work
 * in its place, the exit code is 1, because an older address that is registered again is no rollback.
 */
export async function registerDeployment(
  uri: string,
  { isJson, ...options }: RegisterOptions & { isJson: boolean },
  gateway: AgentGateway,
  context: CliContext,
): Promise<void> {
  const signal = context.interrupted;
  const deployment = await gateway.deployments.register(uri, { ...options, signal });
  const dry = options.dryRun === true ? '  (nothing is changed)' : '';
  if (isJson) await printJson(context.stdout, deployment);
  else await print(context.stdout, `${deploymentLine({ uri, ...deployment })}${dry}\n`);
  if (deployment.isNew || options.force === true) return;
  const services = await registeredServices(gateway, signal);
  if (services === undefined) {
    context.notices.say('Nothing has changed: it is registered already.');
    return;
  }
  const work = newWorkOf(deployment, services);
  context.notices.say(
    `Nothing has changed: it is registered already${plainLine(servedInWords(work))}.`,
  );
  if (work.taken.length === 0) return;
  context.exitCode = EXIT.failed;
  context.notices.say(
    'To roll back, start the older version at an address that is not registered, and register that. For development: --force.',
  );
}

function servedInWords({ own, taken }: NewWork): string {
  if (taken.length === 0) return `, and takes the new work of ${own.join(', ')}`;
  const others = [...new Set(taken.map(({ by }) => by))].map((id) => {
    const names = taken.filter(({ by }) => by === id).map(({ name }) => name);
    return `${id} takes the new work of ${names.join(', ')}`;
  });
  return `, but ${others.join(', and ')}`;
}
