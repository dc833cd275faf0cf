import type { ForgetReceipt } from '../../../packages/client/src/index.ts';
import type { AgentAddress } from './agent-address.ts';
import { byId, element } from './element.ts';
import { commandGateway, reasonOf } from './gateway.ts';
import { copyButton } from './notice.ts';

/** Asks for the id of an agent before it is deleted, and shows the receipt. */
export class ForgetDialog {
  readonly #dialog = byId<HTMLDialogElement>('forget');
  readonly #form = byId<HTMLFormElement>('forget-form');
  readonly #problem = byId('forget-problem');
  readonly #receipt = byId('forget-receipt');
  readonly #confirm = byId<HTMLButtonElement>('forget-confirm');
  #agent: AgentAddress | undefined;

  constructor() {
    byId('forget-close').addEventListener('click', () => this.#dialog.close());
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#forget();
    });
  }

  open(agent: AgentAddress): void {
    this.#agent = agent;
    this.#form.reset();
    this.#problem.textContent = '';
    this.#receipt.hidden = true;
    this.#confirm.hidden = false;
    byId('forget-ask').hidden = false;
    byId('forget-close').textContent = 'Keep it';
    byId('forget-title').textContent = `Forget ${agent.type}/${agent.id}?`;
    this.#dialog.showModal();
  }

  async #forget(): Promise<void> {
    const { type = '', id = '' } = this.#agent ?? {};
    const field = (name: string): HTMLInputElement =>
      this.#form.elements.namedItem(name) as HTMLInputElement;
    if (this.#form.ariaBusy === 'true') return;
    if (field('id').value.trim() !== id) {
      this.#problem.textContent = `Write ${id} to confirm.`;
      return;
    }
    this.#problem.textContent = '';
    this.#form.ariaBusy = 'true';
    try {
      const children = field('children').checked;
      this.#show(await commandGateway.agents.forget(`${type}/${id}`, { children }));
    } catch (error) {
      this.#problem.textContent = `Not forgotten: ${reasonOf(error)}`;
    } finally {
      this.#form.ariaBusy = null;
    }
  }

  #show(receipt: ForgetReceipt): void {
    const { agent, at, timeline, row, children, invocations, remaining } = receipt;
    const facts: Record<string, string> = {
      Forgotten: `${agent} at ${at}`,
      Timeline: timeline,
      Row: row,
      Invocations: `${invocations} deleted${remaining.length === 0 ? '' : `, ${remaining.length} left until their retention ends`}`,
      ...(children.length > 0 && { Children: `${children.join(', ')} asked to forget, too` }),
    };
    const lines = Object.entries(facts).flatMap(([name, value]) => [
      element('dt', {}, name),
      element('dd', {}, value),
    ]);
    const copy = copyButton('Copy receipt', JSON.stringify(receipt, undefined, 2));
    this.#receipt.replaceChildren(...lines, element('dd', {}, copy));
    this.#receipt.hidden = false;
    this.#confirm.hidden = true;
    byId('forget-ask').hidden = true;
    byId('forget-title').textContent = 'The receipt';
    byId('forget-close').textContent = 'Close';
  }
}
