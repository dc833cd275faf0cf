import { APIError, type AgentGateway, type Deployment } from '../../../client/src/index.ts';
import { agentOf, failureText } from '../catalog/failing-agents.ts';
import type { Connection } from '../connection/connection.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { EXIT } from '../exit-codes.ts';
import { plainLine } from '../output/plain-text.ts';
import { bad, ok, skipped, type Finding } from './finding.ts';
import { PATIENCE_MS } from './probe.ts';

const ONCE = { retryForMs: 0, timeoutMs: PATIENCE_MS };
/** The most invocations that fail to look at. */
const MAX_INVOCATIONS = 1_000;

/** Checks whether Restate reaches the deployments in use, and which agents fail. Needs a key that opens the registry. */
export async function agentFindings(connection: Connection): Promise<Finding[]> {
  const gateway = openGateway(connection);
  const findings = await Promise.all([
    findingOf('deployed', () => deploymentFindings(gateway)),
    findingOf('agents', () => failingFindings(gateway)),
  ]);
  return findings.flat();
}

async function findingOf(name: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    const isClosed = error.status === 403;
    return [
      isClosed
        ? skipped(name, 'the API key does not open it')
        : bad(name, EXIT.failed, error.detail),
    ];
  }
}

async function deploymentFindings({ deployments }: AgentGateway): Promise<Finding[]> {
  const [all, services] = await Promise.all([deployments.list(ONCE), deployments.services(ONCE)]);
  // One that is superseded may be gone, unless something still runs there. Then its agent fails.
  const inUse = new Set(services.map(({ deployment_id }) => deployment_id));
  const asked = all.filter(({ id, uri }) => uri !== undefined && inUse.has(id));
  const reached = await Promise.all(asked.map((one) => reachFinding(one, deployments)));
  const unreachable = reached.filter((finding) => finding !== undefined);
  if (unreachable.length > 0) return unreachable;
  return [ok('deployed', `Restate reaches every deployment in use (${asked.length})`)];
}

async function reachFinding(
  deployment: Deployment,
  deployments: AgentGateway['deployments'],
): Promise<Finding | undefined> {
  const { id, uri = '', services } = deployment;
  try {
    await deployments.check(deployment, ONCE);
    return undefined;
  } catch (error) {
    if (!(error instanceof APIError) || error.status === 403) throw error;
    const names = services.map(({ name }) => name).sort();
    const [reason = ''] = error.detail.split('\n');
    return bad(
      'deployed',
      EXIT.unreachable,
      `Restate does not reach ${uri} (${names.join(', ')}): ${reason}`,
      `Start it there, or register its new address. To forget it: agent-gateway deployments remove ${plainLine(id)} --force`,
    );
  }
}

async function failingFindings({ invocations }: AgentGateway): Promise<Finding[]> {
  const failing = await invocations.list({ ...ONCE, isFailing: true, limit: MAX_INVOCATIONS });
  const agents = new Set(failing.map(agentOf));
  const [first] = failing;
  if (!first) return [ok('agents', 'none of them fails')];
  const more = agents.size > 1 ? ` (and ${agents.size - 1} more)` : '';
  const name = agentOf(first);
  return [
    bad(
      'agents',
      EXIT.failed,
      `${failureText(name, first)}${more}`,
      `More of it: agent-gateway describe ${plainLine(name)}. All that fail: agent-gateway ls`,
    ),
  ];
}
