import type { Run } from '../../../packages/client/src/index.ts';
import { agentOfTarget, hashOf } from './agent-address.ts';
import { showStatus } from './agent-line.ts';
import { element } from './element.ts';
import { plainText } from './plain-text.ts';
import { Roving } from './roving.ts';
import { age, duration, nextTry, timeElement } from './times.ts';
import { usageText } from './usage.ts';
import { reasonLine, reasonText } from './reason.ts';
import { VirtualList } from './virtual-list.ts';
import { miniWaterfall, waterfall } from './waterfall.ts';

const ROW_PX = 40;
const LONGEST_LINE = 200;
/** A person reads `asking` as waiting, and `waiting` as not begun. */
const STATE_NAMES: Partial<Record<Run['state'], string>> = {
  asking: 'waiting',
  waiting: 'running',
  writing: 'running',
};

export function stateName({ state }: Run): string {
  return STATE_NAMES[state] ?? state;
}

/** Runs in a line each, which opens to the steps. Only those on the screen are in the page. */
export class RunListView {
  readonly #list: VirtualList<Run>;
  readonly #roving: Roving;
  readonly #open = new Set<string>();
  readonly #versions = new WeakMap<HTMLElement, string>();
  readonly #hasAgent: boolean;
  #shown: readonly Run[] = [];

  /** @param hasAgent whether the lines name their agent */
  constructor(scroller: HTMLElement, list: HTMLElement, hasAgent: boolean) {
    this.#hasAgent = hasAgent;
    this.#list = new VirtualList<Run>({
      scroller,
      list,
      keyOf,
      estimatePx: ROW_PX,
      render: (run) =>
        element('li', { className: 'run', dataset: { testid: 'run', agent: run.agent } }),
      update: (line, run, index) => {
        this.#fill(line, run);
        this.#roving.update(line, keyOf(run), index);
      },
    });
    this.#roving = new Roving(list, this.#list, '.run-line', () => this.#shown.map(keyOf));
  }

  show(runs: readonly Run[]): void {
    this.#shown = runs;
    this.#list.show(runs);
  }

  clear(): void {
    this.#open.clear();
    this.#shown = [];
    this.#list.clear();
  }

  #fill(item: HTMLElement, run: Run): void {
    const isOpen = this.#open.has(keyOf(run));
    const isUnderWay = run.endedAt === undefined;
    // One that is under way gets longer every second.
    const clock = isUnderWay ? Math.floor(Date.now() / 1_000) : 0;
    const { state, attempts, steps, detail, error, nextTryAt } = run;
    const version = [
      isOpen,
      clock,
      state,
      attempts,
      steps.length,
      detail,
      error,
      nextTryAt,
      run.endedAt,
    ].join(' ');
    if (this.#versions.get(item) === version) return;
    this.#versions.set(item, version);
    const hadFocus = item.contains(document.activeElement);
    const line = this.#line(run);
    line.setAttribute('aria-expanded', String(isOpen));
    line.addEventListener('click', () => {
      if (!this.#open.delete(keyOf(run))) this.#open.add(keyOf(run));
      this.#list.redraw();
    });
    item.replaceChildren(line, ...(isOpen ? [detailOf(run)] : []));
    if (hadFocus) line.focus();
  }

  #line(run: Run): HTMLElement {
    const pill = element('span', { className: 'pill' });
    showStatus(pill, stateName(run));
    const { beganAt, endedAt, attempts, message, error, detail, askedAt } = run;
    const why = detail === undefined ? error : reasonLine(detail);
    const said = message === '' ? '(no text)' : message.slice(0, LONGEST_LINE);
    return element(
      'button',
      { type: 'button', className: 'run-line' },
      pill,
      ...(this.#hasAgent ? [element('span', { className: 'run-agent' }, run.agent)] : []),
      element(
        'span',
        { className: 'run-said' },
        said,
        ...(why === undefined
          ? []
          : [element('span', { className: 'failure' }, ` — ${why.slice(0, LONGEST_LINE)}`)]),
      ),
      miniWaterfall(run),
      element(
        'span',
        { className: 'run-took' },
        duration(beganAt, endedAt ?? new Date().toISOString()),
      ),
      element('span', { className: 'run-tries' }, attempts > 1 ? `${attempts} attempts` : ''),
      element('span', { className: 'run-age', title: askedAt ?? '' }, age(askedAt ?? beganAt)),
    );
  }
}

function keyOf({ agent, key }: Run): string {
  return `${agent} ${key}`;
}

function detailOf(run: Run): HTMLElement {
  const {
    agent,
    askedAt,
    endedAt,
    attempts,
    stoppedBy,
    usage,
    error,
    detail,
    nextTryAt,
    message,
    id,
  } = run;
  const address = agentOfTarget(`${agent}/wake`);
  const facts: (Node | string)[] = [
    ...(address ? [element('a', { href: hashOf(address) }, agent)] : [agent]),
    'came ',
    timeElement(askedAt),
    ...(endedAt === undefined ? [] : [' · ended ', timeElement(endedAt)]),
    ` · ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}`,
    ...(nextTryAt === undefined ? [] : [` · ${nextTry(nextTryAt)}`]),
    ...(stoppedBy
      ? [
          ` · stopped by ${stoppedBy.verb}${stoppedBy.reason === undefined ? '' : `: ${stoppedBy.reason}`}`,
        ]
      : []),
    ...(usage ? [` · ${usageText(usage)}`] : []),
    ...(id === undefined ? [] : [' · ', element('code', {}, id)]),
  ];
  // The step that failed says it already.
  const isSaid = run.steps.some((step) => step.error !== undefined && step.error === error);
  const why = detail ?? (isSaid ? undefined : error);
  return element(
    'div',
    { className: 'run-detail', dataset: { testid: 'run-detail' } },
    element('p', { className: 'run-facts dim' }, ...facts),
    ...(message.length > LONGEST_LINE ? [element('pre', { tabIndex: 0 }, plainText(message))] : []),
    waterfall(run),
    ...(why === undefined
      ? []
      : [
          element(
            'pre',
            { className: 'failure', tabIndex: 0, dataset: { testid: 'run-error' } },
            plainText(reasonText(why)),
          ),
        ]),
  );
}
