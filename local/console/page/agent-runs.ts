import { runsOf } from '../../../packages/client/src/index.ts';
import type { AgentFailure } from '../../../packages/client/src/index.ts';
import { withFailure } from '../../../packages/client/src/run-failure.ts';
import { byId } from './element.ts';
import type { Event } from './event-text.ts';
import { RunListView } from './run-list.ts';
import { usageBy, usageText } from './usage.ts';

/** An agent that writes changes its runs many times a second. */
const DRAW_EVERY_MS = 500;

/** The runs of the open agent, the newest first, from the events that the page has read. */
export class AgentRuns {
  readonly #list: RunListView;
  readonly #usage = byId('agent-usage');
  #agent = '';
  #events: Event[] = [];
  #failures: readonly AgentFailure[] = [];
  #isShown = false;
  #isPlanned = false;

  constructor(scroller: HTMLElement) {
    this.#list = new RunListView(scroller, byId('agent-runs'), false);
  }

  /** @param agent `type/id` */
  open(agent: string): void {
    this.#agent = agent;
    this.#events = [];
    this.#list.clear();
    this.#usage.textContent = '';
  }

  take(events: readonly Event[]): void {
    this.#events.push(...events);
    this.#plan();
  }

  setFailures(failures: readonly AgentFailure[]): void {
    this.#failures = failures;
    this.#plan();
  }

  setShown(isShown: boolean): void {
    this.#isShown = isShown;
    this.#usage.hidden = !isShown;
    if (isShown) this.#draw();
  }

  /** Only while they are shown: they are made of all events each time. */
  #plan(): void {
    if (!this.#isShown || this.#isPlanned) return;
    this.#isPlanned = true;
    setTimeout(() => {
      this.#isPlanned = false;
      if (this.#isShown) this.#draw();
    }, DRAW_EVERY_MS);
  }

  #draw(): void {
    const failure = this.#failures.find(({ agent }) => agent === this.#agent);
    const runs = withFailure(runsOf(this.#agent, this.#events), this.#agent, failure).toReversed();
    this.#list.show(runs);
    const [sum] = usageBy(runs, () => this.#agent);
    const used = sum ? usageText(sum.usage) : '';
    const failed = sum && sum.failed > 0 ? `, ${sum.failed} failed` : '';
    this.#usage.textContent = sum
      ? `${sum.runs} ${sum.runs === 1 ? 'run' : 'runs'}${failed}${used && `: ${used}`}`
      : 'No runs yet.';
  }
}
