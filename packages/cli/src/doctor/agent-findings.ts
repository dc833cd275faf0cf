import { APIError, type AgentGateway, type Deployment } from '../../../client/src/index.ts';
import { failuresWithRows, failureText } from '../catalog/failing-agents.ts';
import type { Connection } from '../connection/connection.ts';
import { openGateway } from '../connection/open-gateway.ts';
import { EXIT } from '../exit-codes.ts';
import { plainLine } from '../output/plain-text.ts';
import { bad, ok, skipped, type Finding } from './finding.ts';
import { PATIENCE_MS } from './probe.ts';
import { ClusterIsChanging, onceSettled } from './settled-cluster.ts';

/** The others are in `ls`. */
const MOST_NAMED = 20;
const MORE_OF_IT =
  'More of one: agent-gateway describe ADDRESS. All that fail: agent-gateway ls --status failing';
const ONCE = { retryForMs: 0, timeoutMs: PATIENCE_MS };

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
    return await onceSettled(work);
  } catch (error) {
    if (error instanceof ClusterIsChanging) return [changingFinding(name)];
    if (!(error instanceof APIError)) throw error;
    const isClosed = error.status === 403;
    return [
      isClosed
        ? skipped(name, 'the API key does not open it')
        : bad(name, EXIT.failed, error.detail),
    ];
  }
}

/** Not the agents' fault, and nothing that Restate's own words would tell anybody. */
function changingFinding(name: string): Finding {
  return bad(
    name,
    EXIT.unreachable,
    "Restate cannot say, because its cluster is changing: a node is away, or has not taken over another one's work",
    'Do all nodes of Restate run? restatectl status shows them. While too few do, commands wait and then get 502. Ask again in a minute.',
  );
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

async function failingFindings(gateway: AgentGateway): Promise<Finding[]> {
  const failing = await failuresWithRows(gateway, ONCE);
  if (failing.length === 0) return [ok('agents', 'none of them fails')];
  const named = failing.slice(0, MOST_NAMED);
  const left = failing.length - named.length;
  const lines = named.map(failureText);
  if (left > 0) lines.push(`${left} more fail`);
  return lines.map((line, index) => {
    const isLast = index === lines.length - 1;
    return bad('agents', EXIT.failed, line, isLast ? MORE_OF_IT : undefined);
  });
}
