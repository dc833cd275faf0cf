import type { EntityAddress } from './address.ts';
import type { APIError } from './api-error.ts';
import type { Catalog } from './catalog.ts';
import type { TimelineEvent } from './events.ts';
import type { Invocations } from './invocations.ts';
import type { Run, RunState } from './run.ts';
import type { Timeline, TimelineOptions } from './timeline.ts';

/** Which runs to list. */
export interface ListRunsOptions {
  /** Only those of this agent. */
  agent?: EntityAddress;
  /** Only those of agents of this type. */
  type?: string;
  /** Only those in this state, such as `failed`. `failing` and `asking` have not ended. */
  state?: RunState;
  /** Only those that were under way at this time or later: a Date, or ISO 8601. */
  since?: Date | string;
  /** Only those that had come by this time: a Date, or ISO 8601. */
  until?: Date | string;
  /** The most runs to list. Default 100. */
  limit?: number;
  /** The most agents whose timelines are read, each from its start. Those that fail come first, then those with the newest rows. Default 100. */
  maxAgents?: number;
  /** How long one timeline may take, in milliseconds. Default 20,000. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** The runs that were found, and what was not looked at. */
export interface RunList {
  /** Those that failed or fail first, then the newest. */
  runs: Run[];
  /** How many runs matched. */
  found: number;
  /** How many agents were left out because of `maxAgents`. */
  agentsLeftOut: number;
  /** What could not be read. `agent` is absent for what concerns all agents. */
  problems: { agent?: string; error: APIError }[];
}

/** What the runs are read with. */
export interface RunReads {
  timeline: (agent: string, options: TimelineOptions<TimelineEvent>) => Timeline<TimelineEvent>;
  catalog: (options: { live: false; signal: AbortSignal }) => Catalog;
  invocations: Pick<Invocations, 'failures'>;
}

/**
 * What agents did for each message, from their timelines: as long as a timeline is kept, so are the runs. Why one fails comes from Restate, if the
 * API key has the scope `registry:write`. Without `agent` it needs `shapes:read`, besides `streams:read`.
 */
export class Runs {
  readonly #reads: RunReads;

  constructor(reads: RunReads) {
    this.#reads = reads;
  }

  /**
   * Lists runs, those that failed first. Rejects with an `APIError` if the agent or the list of agents cannot be read, and with a TypeError for an
   * option that is none.
   */
  async list(options: ListRunsOptions = {}): Promise<RunList> {
    // A page that lists none does not load how.
    const { listRuns } = await import('./run-listing.ts');
    return listRuns(this.#reads, options);
  }
}
