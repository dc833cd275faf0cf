import type { EntityRow, Run, WaitingCall } from '../../../packages/client/src/index.ts';
import { agentOfTarget, hashOf } from './agent-address.ts';
import { decisionForm } from './decision-form.ts';
import { byId, element } from './element.ts';
import { json, plain } from './event-text.ts';
import { plainText } from './plain-text.ts';
import type { RunReader } from './run-reader.ts';
import { age } from './times.ts';

const REFRESH_MS = 3_000;
/** Those that wait the longest. */
const MOST_AGENTS = 200;
const LONGEST_MESSAGE = 200;

/** Everything that waits for a person, across agents: what is asked, since when, and the buttons that decide it. */
export class DecisionsView {
  readonly #reader: RunReader;
  readonly #list = byId('decisions');
  readonly #empty = byId('decisions-empty');
  readonly #note = byId('decisions-note');
  readonly #shown = new Map<string, HTMLElement>();
  #rows: readonly EntityRow[] | undefined;
  #waiting: readonly EntityRow[] = [];
  #open: AbortController | undefined;
  /** What this page has decided, until the timeline has it. */
  readonly #decided = new Set<string>();

  constructor(reader: RunReader) {
    this.#reader = reader;
  }

  /** @param rows all rows of the catalog */
  setRows(rows: readonly EntityRow[]): void {
    this.#rows = rows;
    this.#waiting = rows
      .filter(({ status }) => status === 'waiting')
      .toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1));
    const { length } = this.#waiting;
    byId('decisions-count').textContent = length === 0 ? '' : String(length);
    byId('decisions-link').title = length === 1 ? '1 agent waits' : `${length} agents wait`;
  }

  open(): void {
    if (this.#open) return;
    this.#open = new AbortController();
    void this.#run(this.#open.signal);
  }

  close(): void {
    this.#open?.abort();
    this.#open = undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!document.hidden) {
        const rows = this.#waiting.slice(0, MOST_AGENTS);
        await this.#reader.update(rows, signal);
        if (signal.aborted) return;
        this.#show(rows);
      }
      await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
    }
  }

  #show(rows: readonly EntityRow[]): void {
    const found = this.#reader
      .runsOf(rows, new Map())
      .flatMap((run) => run.waiting.map((call) => ({ run, call })))
      .filter(({ run, call }) => !this.#decided.has(keyOf(run, call)))
      .toSorted((a, b) => ((a.call.since ?? '') < (b.call.since ?? '') ? -1 : 1));
    const keys = new Set(found.map(({ run, call }) => keyOf(run, call)));
    for (const [key, line] of this.#shown) {
      if (keys.has(key)) continue;
      line.remove();
      this.#shown.delete(key);
    }
    for (const [index, { run, call }] of found.entries()) {
      const key = keyOf(run, call);
      const line = this.#shown.get(key) ?? this.#newCard(run, call);
      this.#shown.set(key, line);
      const since = line.querySelector('.since');
      if (since) since.textContent = `for ${age(call.since)}`;
      // A line is moved only if it must be: it may have the focus.
      const there = this.#list.children[index];
      if (there !== line) this.#list.insertBefore(line, there ?? null);
    }
    this.#empty.hidden = found.length > 0;
    this.#empty.textContent = this.#rows ? 'Nothing waits for a person.' : 'Reading the catalog…';
    const left = this.#waiting.length - rows.length;
    const problems = this.#reader.problemsOf(rows);
    if (left > 0) problems.push(`${left} more agents wait. Those that wait the longest are here.`);
    this.#note.textContent = problems.join(' ');
  }

  #newCard(run: Run, call: WaitingCall): HTMLElement {
    const agent = agentOfTarget(`${run.agent}/wake`);
    const question = { agent: run.agent, call: call.call, name: call.name };
    const form = decisionForm(question, () => {
      this.#decided.add(keyOf(run, call));
      const row = this.#rows?.find(({ type, id }) => `${type}/${id}` === run.agent);
      if (row) this.#reader.forget(row.url);
    });
    const input = typeof call.input === 'string' ? call.input : json(call.input, 2);
    return element(
      'li',
      { className: 'decision', dataset: { testid: 'decision' } },
      element(
        'p',
        { className: 'decision-head' },
        element('b', {}, call.name),
        element('span', { className: 'dim' }, 'asked by'),
        agent ? element('a', { href: hashOf(agent) }, run.agent) : run.agent,
        element('span', { className: 'since dim' }),
      ),
      element(
        'p',
        { className: 'dim asked' },
        `In answer to “${plain(run.message).slice(0, LONGEST_MESSAGE)}”`,
      ),
      ...(call.input === undefined ? [] : [element('pre', { tabIndex: 0 }, plainText(input))]),
      form,
    );
  }
}

function keyOf(run: Run, { call }: WaitingCall): string {
  return `${run.agent} ${call}`;
}
