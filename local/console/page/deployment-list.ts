import type { Deployment, Invocation, Service } from '../../../packages/client/src/index.ts';
import { deploymentLine, isSuperseded, type Health } from './deployment-line.ts';
import { byId, element } from './element.ts';
import { commandGateway, ONCE, reasonOf } from './gateway.ts';
import { notice } from './notice.ts';

/** Restate asks each address again, so that health is what Restate sees. */
const MOST_CHECKED = 20;

/** The registry at one time. */
export interface Registry {
  deployments: readonly Deployment[];
  services: readonly Service[];
  invocations: readonly Invocation[];
}

/** The deployments with what they serve, whether Restate reaches them, and their removal. */
export class DeploymentList {
  readonly #list = byId('deployments');
  readonly #dialog = byId<HTMLDialogElement>('remove');
  readonly #onRemoved: () => Promise<void>;
  readonly #health = new Map<string, Health>();
  #removing: Deployment | undefined;

  constructor(onRemoved: () => Promise<void>) {
    this.#onRemoved = onRemoved;
    this.#dialog.addEventListener('close', () => {
      if (this.#dialog.returnValue === 'remove' && this.#removing) {
        void this.#remove(this.#removing);
      }
      this.#dialog.returnValue = '';
    });
  }

  /** Shows what is known at once, and again when Restate has asked the addresses. */
  show(registry: Registry): void {
    this.#draw(registry);
    void this.#check(registry).then(() => this.#draw(registry));
  }

  async #check({ deployments }: Registry): Promise<void> {
    await Promise.all(
      deployments.slice(0, MOST_CHECKED).map(async (deployment) => {
        const { id, uri } = deployment;
        if (uri === undefined) return;
        try {
          await commandGateway.deployments.check(deployment, ONCE);
          this.#health.set(id, { isWell: true, text: 'Restate reaches it' });
        } catch (error) {
          const text = `Restate does not reach it: ${reasonOf(error)}`;
          this.#health.set(id, { isWell: false, text });
        }
      }),
    );
  }

  #draw({ deployments, services, invocations }: Registry): void {
    byId('deployments-empty').hidden = deployments.length > 0;
    const sorted = deployments.toSorted(
      (a, b) =>
        Number(isSuperseded(a, services)) - Number(isSuperseded(b, services)) ||
        String(b.created_at).localeCompare(String(a.created_at)),
    );
    const lines = sorted.map((deployment) => {
      const failing = invocations.filter(
        ({ deploymentId, lastFailure }) =>
          deploymentId === deployment.id && lastFailure !== undefined,
      ).length;
      const health = this.#health.get(deployment.id);
      const line = deploymentLine({ deployment, services, health, failing });
      line.querySelector('button')?.addEventListener('click', () => this.#ask(deployment));
      return line;
    });
    replaceIfOther(this.#list, lines);
  }

  #ask(deployment: Deployment): void {
    this.#removing = deployment;
    byId('remove-title').textContent = `Remove ${deployment.uri ?? deployment.id}?`;
    this.#dialog.showModal();
  }

  async #remove({ id, uri = id }: Deployment): Promise<void> {
    try {
      await commandGateway.deployments.remove(id, { ...ONCE, force: true });
      notice(`Removed: ${uri}`);
    } catch (error) {
      notice(`Not removed: ${reasonOf(error)}`, 'failed');
    }
    await this.#onRemoved();
  }
}

/** An unchanged list keeps its elements, and with them the focus. */
function replaceIfOther(list: HTMLElement, lines: HTMLElement[]): void {
  const made = element('ul', {}, ...lines);
  if (made.innerHTML !== list.innerHTML) list.replaceChildren(...lines);
}
