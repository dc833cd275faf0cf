import type { Invocation } from '../../../packages/client/src/index.ts';
import { hashOf } from './agent-address.ts';
import { agentOfInvocation } from './agent-list.ts';
import { Cancels } from './cancels.ts';
import { commandGateway, ONCE, reasonOf } from './gateway.ts';
import { element } from './element.ts';
import { copyButton, notice } from './notice.ts';
import { reasonText } from './reason.ts';
import { nextTry, timeElement } from './times.ts';

const KILL = 'Kill';
const DEAF =
  'It has not noticed the cancel: it fails before it waits for Restate, or its process is away. Kill ends it without asking it.';

/** Unfinished invocations: those that fail first, with all lines of the last error. */
export class InvocationList {
  readonly #list: HTMLElement;
  readonly #shown = new Map<string, HTMLElement>();
  readonly #cancels = new Cancels();
  #latest = new Map<string, Invocation>();

  constructor(list: HTMLElement) {
    this.#list = list;
  }

  /** Empties the list, before it shows another agent. */
  clear(): void {
    this.#cancels.forget();
    this.show([]);
  }

  show(invocations: readonly Invocation[]): void {
    const ids = new Set(invocations.map(({ id }) => id));
    for (const { id, target } of this.#cancels.takeEnded(invocations)) {
      const { tries = 0 } = this.#latest.get(id) ?? {};
      notice(
        `Cancelled: ${target} has ended after ${tries} ${tries === 1 ? 'attempt' : 'attempts'}.`,
      );
    }
    for (const [id, line] of this.#shown) {
      if (ids.has(id)) continue;
      line.remove();
      this.#shown.delete(id);
    }
    this.#latest = new Map(invocations.map((one) => [one.id, one]));
    const sorted = invocations.toSorted((a, b) => Number(isFailing(b)) - Number(isFailing(a)));
    for (const [index, invocation] of sorted.entries()) {
      const line = this.#shown.get(invocation.id) ?? this.#newLine(invocation);
      this.#fill(line, invocation);
      this.#shown.set(invocation.id, line);
      const there = this.#list.children[index];
      if (there !== line) this.#list.insertBefore(line, there ?? null);
    }
  }

  #newLine(invocation: Invocation): HTMLElement {
    const { id, target } = invocation;
    const agent = agentOfInvocation(invocation);
    const cancel = element(
      'button',
      { type: 'button', className: 'small needs-runtime' },
      'Cancel',
    );
    cancel.setAttribute('aria-label', `Cancel ${target}`);
    cancel.addEventListener('click', () => void this.#end(invocation, cancel));
    return element(
      'li',
      { className: 'invocation', dataset: { testid: 'invocation' } },
      element('span', { className: 'pill' }),
      agent ? element('a', { href: hashOf(agent) }, target) : element('b', {}, target),
      element('span', { className: 'facts' }),
      element('span', { className: 'actions' }, copyButton('Copy id', id), cancel),
      element('p', { className: 'deaf', hidden: true }, DEAF),
      element('details', { className: 'failure', open: true, hidden: true }),
    );
  }

  #fill(line: HTMLElement, invocation: Invocation): void {
    const { status, createdAt, tries, nextTryAt, lastFailure } = invocation;
    const [pill, , facts, actions, deaf, failure] = [...line.children] as HTMLElement[];
    if (!pill || !facts || !actions || !deaf) return;
    if (!(failure instanceof HTMLDetailsElement)) return;
    this.#offerKill(invocation, actions, deaf);
    pill.textContent = this.#cancels.has(invocation.id) ? 'cancelling' : status;
    pill.dataset.status = isFailing(invocation) ? 'failing' : status;
    const attempt = tries > 0 ? ` · attempt ${tries}` : '';
    const next = nextTry(nextTryAt);
    facts.replaceChildren('since ', timeElement(createdAt), attempt, next && ` · ${next}`);
    failure.hidden = lastFailure === undefined;
    if (lastFailure === undefined || failure.dataset.said === lastFailure) return;
    failure.dataset.said = lastFailure;
    const [first = '', ...stack] = reasonText(lastFailure).split('\n');
    const lines = stack.length === 0 ? [] : [element('pre', { tabIndex: 0 }, stack.join('\n'))];
    failure.replaceChildren(element('summary', {}, first), ...lines);
  }

  /** A handler notices a cancel where it waits for Restate. One that throws before that is tried again and again. */
  #offerKill(invocation: Invocation, actions: HTMLElement, deaf: HTMLElement): void {
    const { target } = invocation;
    const button = actions.lastElementChild;
    const isDeaf = this.#cancels.isUnnoticed(invocation);
    if (!isDeaf || !deaf.hidden || !(button instanceof HTMLButtonElement)) return;
    deaf.hidden = false;
    button.textContent = KILL;
    button.setAttribute('aria-label', `${KILL} ${target}`);
    button.classList.add('danger');
    button.disabled = false;
  }

  async #end(invocation: Invocation, button: HTMLButtonElement): Promise<void> {
    const { id, target } = invocation;
    const { invocations } = commandGateway;
    const kills = button.textContent === KILL;
    button.disabled = true;
    // Before the answer, at which the list may show another agent already.
    if (!kills) this.#cancels.add(this.#latest.get(id) ?? invocation);
    try {
      if (kills) await invocations.kill(id, ONCE);
      else await invocations.cancel(id, ONCE);
      notice(`Restate has been told to ${kills ? 'kill' : 'end'} ${target}.`);
    } catch (error) {
      button.disabled = false;
      if (!kills) this.#cancels.delete(id);
      notice(`Not ${kills ? 'killed' : 'cancelled'}: ${reasonOf(error)}`, 'failed');
    }
  }
}

/** Restate keeps the failure of an invocation that works again. */
export function isFailing({ status }: Invocation): boolean {
  return status === 'paused' || status === 'backing-off';
}
