import type { AgentFailure, EntityRow, Run } from '../../../packages/client/src/index.ts';
import { failedFirst } from '../../../packages/client/src/run-listing.ts';
import { byId, element } from './element.ts';
import { RunListView, stateName } from './run-list.ts';
import type { RunReader } from './run-reader.ts';
import { msOf } from './times.ts';
import { usageBy, usageText } from './usage.ts';

const REFRESH_MS = 3_000;
/** Those that fail, then those that did something last. */
const MOST_AGENTS = 300;
const MOST_USAGE = 12;
const STATES = ['failing', 'failed', 'waiting', 'running', 'queued', 'done', 'stopped', 'refused'];
const HOUR_MS = 3_600_000;

/** What agents did for each message, across agents: those that failed first, in a span of time. */
export class RunsView {
  readonly #reader: RunReader;
  readonly #list = new RunListView(byId('runs-scroll'), byId('runs'), true);
  readonly #text = byId<HTMLInputElement>('runs-text');
  readonly #type = byId<HTMLSelectElement>('runs-type');
  readonly #state = byId<HTMLSelectElement>('runs-state');
  readonly #hours = byId<HTMLSelectElement>('runs-hours');
  #rows: readonly EntityRow[] | undefined;
  #failures: ReadonlyMap<string, AgentFailure> = new Map();
  #open: AbortController | undefined;
  #isRead = false;

  constructor(reader: RunReader) {
    this.#reader = reader;
    for (const state of STATES) this.#state.add(new Option(state, state));
    for (const control of [this.#text, this.#type, this.#state]) {
      control.addEventListener('input', () => this.#show());
    }
    this.#hours.addEventListener('input', () => {
      if (!this.#open) return;
      this.close();
      this.open();
    });
  }

  setRows(rows: readonly EntityRow[]): void {
    this.#rows = rows;
    const offered = new Set([...this.#type.options].map(({ value }) => value));
    for (const type of new Set(rows.map((row) => row.type))) {
      if (!offered.has(type)) this.#type.add(new Option(type, type));
    }
  }

  setFailures(failures: readonly AgentFailure[]): void {
    this.#failures = new Map(failures.map((failure) => [failure.agent, failure]));
    if (this.#open && this.#isRead) this.#show();
  }

  open(): void {
    if (this.#open) return;
    this.#open = new AbortController();
    this.#isRead = false;
    void this.#run(this.#open.signal);
  }

  close(): void {
    this.#open?.abort();
    this.#open = undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!document.hidden && this.#rows) {
        this.#show();
        await this.#reader.update(this.#agents().read, signal);
        if (signal.aborted) return;
        this.#isRead = true;
        this.#show();
      }
      await new Promise((resolve) => setTimeout(resolve, this.#rows ? REFRESH_MS : 100));
    }
  }

  get #since(): number {
    return this.#hours.value === '' ? 0 : Date.now() - Number(this.#hours.value) * HOUR_MS;
  }

  /** The agents that did something in the span of time: which are read, and how many are not. */
  #agents(): { read: EntityRow[]; left: number } {
    const since = this.#since;
    const rank = ({ type, id, status }: EntityRow): number =>
      this.#failures.has(`${type}/${id}`) || status === 'failed' || status === 'failing' ? 0 : 1;
    const all = (this.#rows ?? [])
      .filter((row) => !isAtRest(row) || msOf(row.updated_at) >= since)
      .toSorted((a, b) => rank(a) - rank(b) || msOf(b.updated_at) - msOf(a.updated_at));
    return { read: all.slice(0, MOST_AGENTS), left: Math.max(0, all.length - MOST_AGENTS) };
  }

  #show(): void {
    const { read, left } = this.#agents();
    const text = this.#text.value.trim().toLowerCase();
    const since = this.#since;
    const inSpan = this.#reader
      .runsOf(read, this.#failures)
      .filter(
        ({ endedAt, agent }) =>
          !(msOf(endedAt) < since) &&
          (this.#type.value === '' || agent.startsWith(`${this.#type.value}/`)),
      );
    const shown = inSpan
      .filter((run) => this.#state.value === '' || stateName(run) === this.#state.value)
      .filter((run) => text === '' || textOf(run).includes(text))
      .toSorted(failedFirst);
    this.#list.show(shown);
    byId('runs-count').textContent =
      shown.length === inSpan.length ? `${shown.length}` : `${shown.length} of ${inSpan.length}`;
    const empty = byId('runs-empty');
    empty.hidden = shown.length > 0;
    empty.textContent = this.#isRead ? 'No run matches.' : 'Reading the timelines…';
    const problems = this.#reader.problemsOf(read);
    if (left > 0)
      problems.push(`${left} more agents did something in this time: choose a shorter one.`);
    byId('runs-note').textContent = problems.join(' ');
    showUsage(inSpan);
  }
}

function isAtRest({ status }: EntityRow): boolean {
  return status !== 'running' && status !== 'waiting' && status !== 'failing';
}

function textOf({ agent, message, error, detail }: Run): string {
  return [agent, message, error, detail].join('\n').toLowerCase();
}

/** By type, then by agent. */
function showUsage(runs: readonly Run[]): void {
  const types = usageBy(runs, ({ agent }) => agent.split('/')[0] ?? agent);
  const agents = usageBy(runs, ({ agent }) => agent);
  const line = ({ name, runs: count, failed, usage }: (typeof types)[number]): HTMLElement =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, name),
      element('td', {}, String(count)),
      element('td', {}, String(failed)),
      element('td', {}, usageText(usage) || '–'),
    );
  const more = agents.length - MOST_USAGE;
  byId('usage-types').replaceChildren(...types.map(line));
  byId('usage-agents').replaceChildren(...agents.slice(0, MOST_USAGE).map(line));
  byId('usage-more').textContent = more > 0 ? `and ${more} more agents` : '';
}
