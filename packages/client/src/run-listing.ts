import { entityOf, type EntityAddress } from './address.ts';
import { APIError } from './api-error.ts';
import type { EntityRow } from './entity-row.ts';
import type { TimelineEvent } from './events.ts';
import type { AgentFailure } from './failures.ts';
import { withFailure } from './run-failure.ts';
import { runsOf, type Run, type RunState } from './run.ts';
import type { ListRunsOptions, RunList, RunReads } from './runs.ts';

const DEFAULT_LIMIT = 100;
const DEFAULT_MAX_AGENTS = 100;
const DEFAULT_TIMEOUT_MS = 20_000;
/** So many timelines at a time. */
const AT_ONCE = 6;
const FAILED: readonly RunState[] = ['failing', 'failed', 'refused'];

/** See `Runs.list`. */
export function listRuns(reads: RunReads, options: ListRunsOptions): Promise<RunList> {
  return new RunListing(reads).list(options);
}

class RunListing {
  readonly #reads: RunReads;

  constructor(reads: RunReads) {
    this.#reads = reads;
  }

  async list(options: ListRunsOptions): Promise<RunList> {
    const { agent, limit = DEFAULT_LIMIT, maxAgents = DEFAULT_MAX_AGENTS } = options;
    for (const [name, value] of Object.entries({ limit, maxAgents })) {
      if (!Number.isSafeInteger(value) || value < 1)
        throw new TypeError(`${name} must be 1 or more.`);
    }
    const span = { since: timeOf('since', options.since), until: timeOf('until', options.until) };
    const problems: RunList['problems'] = [];
    const failures = await this.#failures(options, problems);
    const agents =
      agent === undefined ? await this.#agents(options, failures, span.since) : [nameOf(agent)];
    const read = agents.slice(0, maxAgents);
    const runs: Run[] = [];
    await eachOf(read, AT_ONCE, async (one) => {
      try {
        runs.push(...withFailure(await this.#runsOf(one, options), one, failures.get(one)));
      } catch (error) {
        if (!(error instanceof APIError) || agent !== undefined) throw error;
        problems.push({ agent: one, error });
      }
    });
    const matching = runs.filter((run) => isWanted(run, options, span)).toSorted(failedFirst);
    return {
      runs: matching.slice(0, limit),
      found: matching.length,
      agentsLeftOut: agents.length - read.length,
      problems,
    };
  }

  async #failures(
    { agent, signal }: ListRunsOptions,
    problems: RunList['problems'],
  ): Promise<Map<string, AgentFailure>> {
    try {
      const which = { ...(agent !== undefined && { agent }), ...(signal && { signal }) };
      const failures = await this.#reads.invocations.failures(which);
      return new Map(failures.map((failure) => [failure.agent, failure]));
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      problems.push({ error });
      return new Map();
    }
  }

  /** The agents to read, those that fail first. */
  async #agents(
    { type, signal }: ListRunsOptions,
    failures: ReadonlyMap<string, AgentFailure>,
    since: number,
  ): Promise<string[]> {
    const ended = AbortSignal.any(signal ? [signal] : []);
    let rows: readonly EntityRow[] = [];
    for await (const all of this.#reads.catalog({ live: false, signal: ended })) rows = all;
    signal?.throwIfAborted();
    const agents = new Set(failures.keys());
    const newest = rows
      .filter((row) => !(Date.parse(row.updated_at) < since) || !isAtRest(row))
      .toSorted(
        (a, b) => rankOf(a) - rankOf(b) || Date.parse(b.updated_at) - Date.parse(a.updated_at),
      );
    for (const { type: ofRow, id } of newest) agents.add(`${ofRow}/${id}`);
    return [...agents].filter((agent) => type === undefined || agent.startsWith(`${type}/`));
  }

  async #runsOf(
    agent: string,
    { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: ListRunsOptions,
  ): Promise<Run[]> {
    const timeout = AbortSignal.timeout(timeoutMs);
    let problem = new APIError('The timeline was not there in time.', { code: 'timeout' });
    const events: TimelineEvent[] = [];
    const timeline = this.#reads.timeline(agent, {
      live: false,
      waitForStream: false,
      signal: AbortSignal.any([timeout, ...(signal ? [signal] : [])]),
      onReset: () => (events.length = 0),
      onState: (state) => {
        if (state.name === 'waiting') problem = state.error;
      },
    });
    try {
      for await (const event of timeline) events.push(event);
    } catch (error) {
      // An agent that has written nothing has no runs yet.
      if (!(error instanceof APIError && error.status === 404)) throw error;
    }
    signal?.throwIfAborted();
    if (timeout.aborted) throw problem;
    return runsOf(agent, events);
  }
}

function nameOf(agent: EntityAddress): string {
  const { type, id } = entityOf(agent);
  return `${type}/${id}`;
}

function timeOf(name: string, time: Date | string | undefined): number {
  if (time === undefined) return NaN;
  const ms = typeof time === 'string' ? Date.parse(time) : time.getTime();
  if (Number.isNaN(ms)) throw new TypeError(`${name} must be a time.`);
  return ms;
}

/** A row is written when the status changes: at rest nothing has happened since. */
function isAtRest({ status }: EntityRow): boolean {
  return status !== 'running' && status !== 'waiting' && status !== 'failing';
}

function rankOf({ status }: EntityRow): number {
  return status === 'failing' || status === 'failed' ? 0 : status === 'waiting' ? 1 : 2;
}

function isWanted(
  { agent, state, askedAt, beganAt, endedAt }: Run,
  { type, state: wanted }: ListRunsOptions,
  { since, until }: { since: number; until: number },
): boolean {
  if (type !== undefined && !agent.startsWith(`${type}/`)) return false;
  if (wanted !== undefined && state !== wanted) return false;
  // What a time that nobody knows is compared with is false.
  return !(Date.parse(endedAt ?? '') < since) && !(Date.parse(askedAt ?? beganAt ?? '') > until);
}

/** Those that fail or failed first, then those that came last. */
export function failedFirst(a: Run, b: Run): number {
  const rank = ({ state }: Run): number => (FAILED.includes(state) ? 0 : 1);
  return rank(a) - rank(b) || timeFor(b) - timeFor(a) || (b.seq ?? 0) - (a.seq ?? 0);
}

function timeFor({ askedAt, beganAt, endedAt }: Run): number {
  return Date.parse(askedAt ?? beganAt ?? endedAt ?? '') || 0;
}

async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const workers = Array.from({ length: atOnce }, async () => {
    for (const item of left) await work(item);
  });
  await Promise.all(workers);
}
