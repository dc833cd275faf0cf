import { APIError, type AgentGateway, type Invocation } from '../../../client/src/index.ts';
import { localTime } from '../output/local-time.ts';
import { plainLine } from '../output/plain-text.ts';

const MAX_INVOCATIONS = 1_000;

/**
 * The oldest invocation that fails, by the `type/id` of its agent. It is empty where the key does not open the registry, or
 * Restate's admin API does not answer.
 */
export async function failingAgents(
  { invocations }: AgentGateway,
  signal: AbortSignal,
): Promise<Map<string, Invocation>> {
  const failing = new Map<string, Invocation>();
  try {
    const options = { isFailing: true, limit: MAX_INVOCATIONS, retryForMs: 0, signal };
    for (const invocation of await invocations.list(options)) {
      const agent = agentOf(invocation);
      if (!failing.has(agent)) failing.set(agent, invocation);
    }
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
  }
  return failing;
}

/** The turn of an agent is an invocation of a service of its own, which a handler of the agent called. */
export function agentOf({ target, invokedBy }: Pick<Invocation, 'target' | 'invokedBy'>): string {
  return (invokedBy ?? target).split('/').slice(0, 2).join('/');
}

/** Why an agent fails, such as `assistant/ada fails since 2026-11-21 16:02:11, 4 tries: no model. Next try …`. */
export function failureText(agent: string, invocation: Invocation): string {
  const { createdAt, tries, lastFailure, nextTryAt } = invocation;
  const [reason = ''] = (lastFailure ?? 'Restate has paused it').split('\n');
  const next = nextTryAt === undefined ? '' : ` Next try ${localTime(nextTryAt) ?? nextTryAt}.`;
  const since = localTime(createdAt) ?? createdAt;
  return plainLine(
    `${agent} fails since ${since}, ${tries} tries: ${reason.replace(/\.$/, '')}.${next}`,
  );
}
