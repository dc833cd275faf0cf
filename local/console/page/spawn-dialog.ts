import type { SpawnRequest } from '../../../packages/client/src/index.ts';
import { agentOfUrl, hashOf } from './agent-address.ts';
import { byId } from './element.ts';
import { commandGateway, reasonOf } from './gateway.ts';

const RETRY_MS = 10_000;

/** The form that spawns an agent, with arguments that are checked before they are sent. */
export class SpawnDialog {
  readonly #dialog = byId<HTMLDialogElement>('spawn-dialog');
  readonly #form = byId<HTMLFormElement>('spawn');
  readonly #problem = byId('spawn-problem');
  readonly #onSpawned: (hash: string) => void;

  /** @param onSpawned gets the agent's place in this page */
  constructor(onSpawned: (hash: string) => void) {
    this.#onSpawned = onSpawned;
    byId('new-agent').addEventListener('click', () => this.#open());
    byId('spawn-cancel').addEventListener('click', () => this.#dialog.close());
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#spawn();
    });
  }

  #open(): void {
    this.#problem.textContent = '';
    this.#dialog.showModal();
    this.#field('id').focus();
  }

  #field(name: string): HTMLInputElement {
    return this.#form.elements.namedItem(name) as HTMLInputElement;
  }

  async #spawn(): Promise<void> {
    if (this.#form.ariaBusy === 'true') return;
    const args = argsIn(this.#field('args').value);
    this.#problem.textContent = 'problem' in args ? args.problem : '';
    if ('problem' in args) return this.#field('args').focus();
    const id = this.#field('id').value.trim();
    const request: SpawnRequest = { type: this.#field('type').value, ...(id && { id }), ...args };
    this.#form.ariaBusy = 'true';
    try {
      const { url } = await commandGateway.agents.spawn(request, { retryForMs: RETRY_MS });
      for (const name of ['id', 'args']) this.#field(name).value = '';
      this.#dialog.close();
      const agent = agentOfUrl(url);
      if (agent) this.#onSpawned(hashOf(agent));
    } catch (error) {
      this.#problem.textContent = `Not spawned: ${reasonOf(error)}`;
    } finally {
      this.#form.ariaBusy = null;
    }
  }
}

/** The arguments of the field, none if it is empty, or what is wrong with them. */
export function argsIn(text: string): { args?: unknown } | { problem: string } {
  if (text.trim() === '') return {};
  try {
    return { args: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: `The arguments are no JSON: ${(error as Error).message}` };
  }
}
