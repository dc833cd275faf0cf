import type { AgentFailure, EntityRow, Run, RunList } from '../../../packages/client/src/index.ts';
import { withFailure } from '../../../packages/client/src/run-failure.ts';
import { Runs } from '../../../packages/client/src/runs.ts';
import { readGateway, streamPrefix, type Settings } from './gateway.ts';

/** So many timelines at a time. */
const AT_ONCE = 6;
const TIMEOUT_MS = 15_000;
/** An agent that is at work writes to its timeline, and not to its row. */
const STALE_MS = 5_000;

interface Read {
  rowAt: string;
  readAtMs: number;
  runs: readonly Run[];
  problem: string | undefined;
}

/** The runs of many agents. Each timeline is read again only after its agent has done something. */
export class RunReader {
  readonly #settings: Settings;
  readonly #read = new Map<string, Read>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** The runs of these agents, as far as they were read before. Failures, by agent, may become known after the timelines. */
  runsOf(rows: readonly EntityRow[], failures: ReadonlyMap<string, AgentFailure>): Run[] {
    return rows.flatMap(({ url, type, id }) => {
      const agent = `${type}/${id}`;
      return withFailure(this.#read.get(url)?.runs ?? [], agent, failures.get(agent));
    });
  }

  /** The messages of an agent's runs, as far as they were read. */
  textOf(url: string): string {
    const runs = this.#read.get(url)?.runs ?? [];
    return runs.map(({ message }) => message).join('\n');
  }

  /** Why timelines cannot be read, each reason once. */
  problemsOf(rows: readonly EntityRow[]): string[] {
    const problems = rows.map(({ url }) => this.#read.get(url)?.problem);
    return [...new Set(problems.filter((problem) => problem !== undefined))];
  }

  /** Reads what has changed. Resolves when all is there. */
  async update(rows: readonly EntityRow[], signal: AbortSignal): Promise<void> {
    const left = rows.filter((row) => this.#isDue(row)).values();
    const worker = async (): Promise<void> => {
      for (const row of left) {
        if (signal.aborted) return;
        await this.#update(row, signal);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  /** The next update reads this agent again. */
  forget(url: string): void {
    this.#read.delete(url);
  }

  #isDue({ url, status, updated_at }: EntityRow): boolean {
    const read = this.#read.get(url);
    if (read?.rowAt !== updated_at || read.problem !== undefined) return true;
    const isAtWork = status === 'running' || status === 'waiting' || status === 'failing';
    return isAtWork && Date.now() - read.readAtMs > STALE_MS;
  }

  async #update(row: EntityRow, signal: AbortSignal): Promise<void> {
    const gateway = readGateway(this.#settings, streamPrefix(this.#settings, row));
    const runs = new Runs({
      timeline: (agent, options) => gateway.timeline(agent, options),
      catalog: (options) => gateway.catalog(options),
      invocations: { failures: () => Promise.resolve([]) },
    });
    const list = { agent: `${row.type}/${row.id}`, limit: Number.MAX_SAFE_INTEGER, signal };
    const found: Pick<RunList, 'runs'> | string = await runs
      .list({ ...list, timeoutMs: TIMEOUT_MS })
      .catch((error: unknown) => (error as Error).message);
    if (signal.aborted) return;
    const isRead = typeof found !== 'string';
    this.#read.set(row.url, {
      rowAt: row.updated_at,
      readAtMs: Date.now(),
      runs: isRead ? found.runs : (this.#read.get(row.url)?.runs ?? []),
      problem: isRead ? undefined : found,
    });
  }
}
