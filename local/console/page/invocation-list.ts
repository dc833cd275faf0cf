import type { Invocation } from '../../../packages/client/src/index.ts';
import { hashOf } from './agent-address.ts';
import { agentOfInvocation } from './agent-list.ts';
import { commandGateway, ONCE, reasonOf } from './gateway.ts';
import { element } from './element.ts';
import { copyButton, notice } from './notice.ts';
import { nextTry, timeElement } from './times.ts';

/** Unfinished invocations: those that fail first, with all lines of the last error. */
export class InvocationList {
  readonly #list: HTMLElement;
  readonly #shown = new Map<string, HTMLElement>();
  /** Those that this page has cancelled and that have not ended yet. */
  readonly #cancelled = new Map<string, Invocation>();

  constructor(list: HTMLElement) {
    this.#list = list;
  }

  show(invocations: readonly Invocation[]): void {
    const ids = new Set(invocations.map(({ id }) => id));
    for (const [id, { target, tries }] of this.#cancelled) {
      if (ids.has(id)) continue;
      this.#cancelled.delete(id);
      notice(
        `Cancelled: ${target} has ended after ${tries} ${tries === 1 ? 'attempt' : 'attempts'}.`,
      );
    }
    for (const [id, line] of this.#shown) {
      if (ids.has(id)) continue;
      line.remove();
      this.#shown.delete(id);
    }
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
    cancel.addEventListener('click', () => void this.#cancel(invocation, cancel));
    return element(
      'li',
      { className: 'invocation', dataset: { testid: 'invocation' } },
      element('span', { className: 'pill' }),
      agent ? element('a', { href: hashOf(agent) }, target) : element('b', {}, target),
      element('span', { className: 'facts' }),
      element('span', { className: 'actions' }, copyButton('Copy id', id), cancel),
      element('details', { className: 'failure', open: true, hidden: true }),
    );
  }

  #fill(line: HTMLElement, invocation: Invocation): void {
    const { status, createdAt, tries, nextTryAt, lastFailure } = invocation;
    const [pill, , facts, , failure] = [...line.children] as HTMLElement[];
    if (!pill || !facts || !(failure instanceof HTMLDetailsElement)) return;
    pill.textContent = this.#cancelled.has(invocation.id) ? 'cancelling' : status;
    pill.dataset.status = isFailing(invocation) ? 'failing' : status;
    const attempt = tries > 0 ? ` · attempt ${tries}` : '';
    const next = nextTry(nextTryAt);
    facts.replaceChildren('since ', timeElement(createdAt), attempt, next && ` · ${next}`);
    failure.hidden = lastFailure === undefined;
    if (lastFailure === undefined || failure.dataset.said === lastFailure) return;
    failure.dataset.said = lastFailure;
    const [first = '', ...stack] = lastFailure.split('\n');
    const lines = stack.length === 0 ? [] : [element('pre', { tabIndex: 0 }, stack.join('\n'))];
    failure.replaceChildren(element('summary', {}, first), ...lines);
  }

  async #cancel(invocation: Invocation, button: HTMLButtonElement): Promise<void> {
    button.disabled = true;
    try {
      await commandGateway.invocations.cancel(invocation.id, ONCE);
      this.#cancelled.set(invocation.id, invocation);
      notice(`Restate has been told to end ${invocation.target}.`);
    } catch (error) {
      button.disabled = false;
      notice(`Not cancelled: ${reasonOf(error)}`, 'failed');
    }
  }
}

export function isFailing({ lastFailure, status }: Invocation): boolean {
  return lastFailure !== undefined || status === 'paused' || status === 'backing-off';
}
