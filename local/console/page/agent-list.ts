import type { AgentFailure, EntityRow, Invocation } from '../../../packages/client/src/index.ts';
import { agentOfHash, agentOfTarget, hashOf, type AgentAddress } from './agent-address.ts';

/** Why an agent fails, and since when. */
export interface Failure {
  /** With all its lines. */
  reason: string;
  tries: number | undefined;
  since: string | undefined;
  nextTryAt: string | undefined;
  /** Whether a handler of the agent itself fails, so that all that is sent to the agent waits. */
  isHandler?: boolean;
  /** Its last message failed for good, and nothing is tried again. */
  isFinal?: boolean;
  /** Only its row says so. */
  isOfRow?: boolean;
}

/** An agent in the list. */
export interface Listed {
  row: EntityRow;
  /** How many of its ancestors are listed above it. */
  depth: number;
  /** `failing` if the runtime says so, whatever the row says. */
  status: string;
  failure: Failure | undefined;
}

export interface Query {
  text: string;
  type: string;
  status: string;
  sort: string;
}

/** The orders of the list. Equal agents are in the order of their URLs, so that no order changes by itself. */
export const SORTS: Record<string, string> = {
  failing: 'failing first',
  newest: 'newest first',
  activity: 'last activity first',
  id: 'by id',
};
const OWN_HANDLER = /\/(?:spawn|wake|control)$/;
const AGENT_HANDLER = /\/(?:spawn|wake|control|write)$/;
const RANKS = ['failing', 'failed', 'waiting', 'running', 'paused', 'idle', 'archived'];

/** By the agent's place in this page (`#/type/id`): those that fail, or whose last message failed for good. */
export function failuresOf(found: readonly AgentFailure[]): Map<string, Failure> {
  const failures = new Map<string, Failure>();
  for (const { agent, state, reason, tries, since, nextTryAt, invocation } of found) {
    const address = agentOfTarget(`${agent}/wake`);
    if (!address) continue;
    const { target = '' } = invocation ?? {};
    failures.set(hashOf(address), {
      reason,
      tries: tries > 0 ? tries : undefined,
      since,
      nextTryAt,
      isHandler: state !== 'failed' && OWN_HANDLER.test(target),
      isFinal: state === 'failed',
      isOfRow: tries === 0 && invocation === undefined,
    });
  }
  return failures;
}

/** The status that a failure gives an agent. */
function statusOf(failure: Failure): string {
  return failure.isFinal ? 'failed' : 'failing';
}

export function failureOf({
  target,
  lastFailure,
  status,
  tries,
  createdAt,
  nextTryAt,
}: Invocation): Failure {
  const reason =
    lastFailure ??
    (status === 'paused'
      ? 'Restate has paused it after its last attempt, and does not try again by itself.'
      : `Restate has it as ${status}.`);
  const isHandler = OWN_HANDLER.test(target) && agentOfTarget(target) !== undefined;
  return { reason, tries: tries > 0 ? tries : undefined, since: createdAt, nextTryAt, isHandler };
}

/** The agent that an invocation works for: its own target, or for a turn and a row the agent that called it. */
export function agentOfInvocation({ target, invokedBy }: Invocation): AgentAddress | undefined {
  const own = agentOfTarget(target);
  return AGENT_HANDLER.test(target) ? own : (agentOfTarget(invokedBy ?? '') ?? own);
}

/** The rows, and a row for each agent that fails before it could write one. */
export function withUnlisted(
  rows: readonly EntityRow[],
  failures: ReadonlyMap<string, Failure>,
  tenant: string,
): readonly EntityRow[] {
  const known = new Set(rows.map(hashOf));
  const unlisted = [...failures].flatMap(([hash, failure]): EntityRow[] => {
    const { since = '' } = failure;
    const agent = known.has(hash) ? undefined : agentOfHash(hash);
    if (!agent) return [];
    const url = `/t/${tenant}/a/${agent.type}/${agent.id}`;
    const times = { created_at: since, updated_at: since };
    return [{ ...agent, url, tenant, status: statusOf(failure), parent: null, ...times }];
  });
  return unlisted.length === 0 ? rows : [...rows, ...unlisted];
}

/** The agents that match, children under their parents. */
export function listed(
  rows: readonly EntityRow[],
  failures: ReadonlyMap<string, Failure>,
  query: Query,
  loadedOf: (url: string) => string = () => '',
): Listed[] {
  const text = query.text.trim().toLowerCase();
  const found = rows
    .map((row): Listed => {
      const known = failures.get(hashOf(row));
      // One that failed for good and is at work again, or waits, does not fail any more.
      const isAtWork = row.status === 'running' || row.status === 'waiting';
      const failure = known?.isFinal && isAtWork ? undefined : known;
      return { row, depth: 0, failure, status: failure ? statusOf(failure) : row.status };
    })
    .filter(
      ({ row, status, failure }) =>
        (query.type === '' || row.type === query.type) &&
        (query.status === '' || status === query.status) &&
        (text === '' || searched(row, failure, loadedOf(row.url)).includes(text)),
    );
  return asTree(found, query.sort);
}

/** What is searched: the id, the type, the reason, and what is loaded of its conversation. */
function searched({ type, id }: EntityRow, failure: Failure | undefined, loaded: string): string {
  return [`${type}/${id}`, failure?.reason, loaded].join('\n').toLowerCase();
}

function asTree(found: Listed[], sort: string): Listed[] {
  const byUrl = new Map(found.map((one) => [one.row.url, one]));
  const children = new Map<string | undefined, Listed[]>();
  for (const one of found) {
    const { parent, url } = one.row;
    const above = parent !== null && parent !== url && byUrl.has(parent) ? parent : undefined;
    const siblings = children.get(above);
    if (siblings) siblings.push(one);
    else children.set(above, [one]);
  }
  const tree: Listed[] = [];
  const seen = new Set<string>();
  const ranks = sort === 'failing' ? ranksOf(found, byUrl) : undefined;
  const add = (above: string | undefined, depth: number): void => {
    for (const one of (children.get(above) ?? []).sort((a, b) => compare(a, b, sort, ranks))) {
      if (seen.has(one.row.url)) continue;
      seen.add(one.row.url);
      tree.push({ ...one, depth });
      if (children.has(one.row.url)) add(one.row.url, depth + 1);
    }
  };
  add(undefined, 0);
  // Agents that name each other as parents are under none of the others.
  for (const one of found) if (!seen.has(one.row.url)) tree.push(one);
  return tree;
}

/** An agent with a child that fails comes as early as one that fails, or that failed for good. Those that wait for a person come next. */
function ranksOf(
  found: readonly Listed[],
  byUrl: ReadonlyMap<string, Listed>,
): Map<string, number> {
  const ranks = new Map<string, number>();
  for (const { row, status } of found) {
    if (status === 'waiting' && !ranks.has(row.url)) ranks.set(row.url, 1);
    if (status !== 'failing' && status !== 'failed') continue;
    for (let at: EntityRow | undefined = row; at && ranks.get(at.url) !== 0;) {
      ranks.set(at.url, 0);
      at = at.parent === null ? undefined : byUrl.get(at.parent)?.row;
    }
  }
  return ranks;
}

function compare(
  a: Listed,
  b: Listed,
  sort: string,
  ranks: ReadonlyMap<string, number> | undefined,
): number {
  const rank = (ranks?.get(a.row.url) ?? 2) - (ranks?.get(b.row.url) ?? 2);
  const by =
    sort === 'id'
      ? order(a.row.id, b.row.id)
      : sort === 'activity'
        ? order(b.row.updated_at, a.row.updated_at)
        : order(b.row.created_at, a.row.created_at);
  return rank || by || order(a.row.url, b.row.url);
}

/** Comparing as a language does takes ten times as long. */
function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The statuses that there are, the worst first. */
export function statusesOf(found: readonly Listed[]): Map<string, number> {
  const counts = new Map(RANKS.map((status) => [status, 0]));
  for (const { status } of found) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}
