import type { EntityRow } from './entity-row.ts';
import type { Invocation } from './invocations.ts';

/** An agent that fails, or whose last message failed for good. */
export interface AgentFailure {
  /** `type/id`. */
  agent: string;
  /**
   * `failing`: it is tried again. `paused`: Restate has given it up until somebody resumes it. `failed`: its last turn failed for good, until
   * the next good one.
   */
  state: 'failing' | 'paused' | 'failed';
  /** As ISO 8601. */
  since: string;
  /** How often it was tried. */
  tries: number;
  /** The error, with its causes and the lines of its stack where they are known. It may quote anything, so no user should see it. */
  reason: string;
  /** When the next attempt is, as ISO 8601. */
  nextTryAt: string | undefined;
  /** The invocation that fails, where one does. */
  invocation: Invocation | undefined;
}

/** The failure that an agent made with `defineAgent` keeps in its state. */
export interface StoredFailure {
  since: string;
  tries: number;
  error: string;
  isFinal: boolean;
}

/** What the row of an agent says. */
export type FailingRow = Pick<EntityRow, 'type' | 'id' | 'status' | 'updated_at'>;

/** All that says whether agents fail. */
export interface FailureSources {
  /** What Restate tries again or has paused. */
  failing: readonly Invocation[];
  /** What agents made with `defineAgent` keep in their state, by `type/id`. */
  stored: ReadonlyMap<string, StoredFailure>;
  /** Commands that failed for good, the newest first. */
  failed: readonly Invocation[];
  /** When the newest command went well, as ISO 8601, by `type/id/handler`. */
  good: ReadonlyMap<string, string>;
  /** Rows that say so, of agents of which Restate keeps no state of the kit. */
  rows: readonly FailingRow[];
}

const PAUSED = 'Restate has paused it after its last attempt, and does not try again by itself.';
const SAYS_SO = 'Its row says so. Restate has nothing of it that fails.';
/** The handlers of an agent, and those with which one made with `defineAgent` calls itself. */
const AGENT_HANDLER = /^[^/]+\/[^/]+\/(?:spawn|wake|control|write|gone|expire)$/;

/**
 * The agent that an invocation works for, as `type/id`. The turn and the row of an agent are invocations of other services, which a handler of the
 * agent called; the turn in its place calls `write` of the agent.
 */
export function agentOf({ target, invokedBy }: Pick<Invocation, 'target' | 'invokedBy'>): string {
  const own = AGENT_HANDLER.test(target) ? target : (invokedBy ?? target);
  return own.split('/').slice(0, 2).join('/');
}

/** Other services may fail as they like, where no agent has called them. */
function isOfAgent({ target, invokedBy }: Invocation): boolean {
  return invokedBy !== undefined || AGENT_HANDLER.test(target);
}

/**
 * The one definition of failing. First what Restate tries again or has paused counts, then what an agent's own state says, then a command that failed for
 * good, and last the row. A command that failed ends to count with the next good message, or the next good command of its own kind. Those that
 * are tried again come first, then those that failed the longest ago.
 */
export function failuresOf({
  failing,
  stored,
  failed,
  good,
  rows,
}: FailureSources): AgentFailure[] {
  const found = new Map<string, AgentFailure>();
  const add = (failure: AgentFailure): void => {
    if (!found.has(failure.agent)) found.set(failure.agent, failure);
  };
  for (const invocation of failing.filter(isOfAgent)) {
    const { status, createdAt: since, tries, lastFailure, nextTryAt } = invocation;
    const state = status === 'paused' ? 'paused' : 'failing';
    const reason = lastFailure ?? PAUSED;
    add({ agent: agentOf(invocation), state, since, tries, reason, nextTryAt, invocation });
  }
  const known = { nextTryAt: undefined, invocation: undefined };
  for (const [agent, { since, tries, error: reason, isFinal }] of stored) {
    add({ agent, state: isFinal ? 'failed' : 'failing', since, tries, reason, ...known });
  }
  for (const invocation of failed) {
    const { target, lastFailure: reason = '', createdAt: since, tries } = invocation;
    const agent = agentOf({ target, invokedBy: undefined });
    const ends = [good.get(target), good.get(`${agent}/wake`)];
    if (ends.some((at) => at !== undefined && at > since)) continue;
    add({ agent, state: 'failed', since, tries, reason, nextTryAt: undefined, invocation });
  }
  for (const { type, id, status, updated_at: since } of rows) {
    const state = status === 'failed' ? 'failed' : 'failing';
    add({ agent: `${type}/${id}`, state, since, tries: 0, reason: SAYS_SO, ...known });
  }
  const rank = ({ state }: AgentFailure) => (state === 'failed' ? 1 : 0);
  return [...found.values()].toSorted(
    (a, b) => rank(a) - rank(b) || (a.since < b.since ? -1 : Number(a.since > b.since)),
  );
}

/**
 * The rows of the catalog as the agents are now: `failing` or `failed` in place of the status of those that fail, and a row for each that fails
 * before it could write one.
 */
export function agentsNow(
  rows: readonly EntityRow[],
  failures: readonly AgentFailure[],
  tenant: string,
): EntityRow[] {
  const statuses = new Map(
    failures.map(({ agent, state }) => [agent, state === 'failed' ? 'failed' : 'failing']),
  );
  const known = new Set(rows.map(({ type, id }) => `${type}/${id}`));
  const unlisted = failures.flatMap(({ agent, since }): EntityRow[] => {
    const [type = '', id = ''] = agent.split('/');
    if (known.has(agent)) return [];
    const times = { created_at: since, updated_at: since };
    const url = `/t/${tenant}/a/${agent}`;
    return [{ url, type, id, status: statuses.get(agent) ?? '', parent: null, tenant, ...times }];
  });
  const now = rows.map((row) => {
    const status = statuses.get(`${row.type}/${row.id}`);
    return status === undefined ? row : { ...row, status };
  });
  return [...now, ...unlisted];
}
