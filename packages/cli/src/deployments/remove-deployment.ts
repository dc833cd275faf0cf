import { APIError, type AgentGateway } from '../../../client/src/index.ts';
import type { CliContext } from '../cli-context.ts';
import { CliError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import { plainLine } from '../output/plain-text.ts';
import { print } from '../output/print.ts';

/** Restate's answer to a removal without force, which has no words. */
const HTTP_NOT_IMPLEMENTED = 501;

/** Removes a deployment. Throws a `CliError` that says what is missing without `force`. */
export async function removeDeployment(
  id: string,
  force: boolean,
  { deployments }: AgentGateway,
  { stdout, interrupted: signal }: CliContext,
): Promise<void> {
  try {
    await deployments.remove(id, { force, signal });
  } catch (error) {
    if (!(error instanceof APIError) || error.status !== HTTP_NOT_IMPLEMENTED) throw error;
    const name = plainLine(id);
    throw new CliError(
      EXIT.failed,
      `Restate has not removed ${name}: it removes a deployment only with --force, whether anything still runs there or not.`,
      `What runs there fails then. Look at it first (agent-gateway deployments list, ls), then: agent-gateway deployments remove ${name} --force`,
      { cause: error },
    );
  }
  await print(stdout, `${plainLine(id)}: removed\n`);
}
