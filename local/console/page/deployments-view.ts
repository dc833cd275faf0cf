import type { Invocation } from '../../../packages/client/src/index.ts';
import { DeploymentList } from './deployment-list.ts';
import { byId } from './element.ts';
import { commandGateway, ONCE, reasonOf } from './gateway.ts';
import { InvocationList } from './invocation-list.ts';

const REFRESH_MS = 5_000;
const MOST_INVOCATIONS = 200;

/** The page of deployments: who serves which agents, how that goes, and what has not ended. */
export class DeploymentsView {
  readonly #problem = byId('deployments-problem');
  readonly #deployments = new DeploymentList(() => this.#refresh());
  readonly #invocations = new InvocationList(byId('invocations'));
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;

  constructor() {
    byId<HTMLFormElement>('register').addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#register(event.target as HTMLFormElement);
    });
  }

  open(): void {
    this.#isOpen = true;
    void this.#refresh();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }

  async #refresh(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const [deployments, services, invocations] = await Promise.all([
        commandGateway.deployments.list(ONCE),
        commandGateway.deployments.services(ONCE),
        this.#listInvocations(),
      ]);
      this.#deployments.show({ deployments, services, invocations });
      byId('invocations-empty').hidden = invocations.length > 0;
      this.#invocations.show(invocations);
      this.#problem.textContent = '';
    } catch (error) {
      this.#problem.textContent = `Restate's registry cannot be read: ${reasonOf(error)} Next try in ${REFRESH_MS / 1_000} s.`;
    }
    if (this.#isOpen) this.#timer = setTimeout(() => void this.#refresh(), REFRESH_MS);
  }

  /** Those that fail must not be behind many that do not. */
  async #listInvocations(): Promise<Invocation[]> {
    const { invocations } = commandGateway;
    const [failing, oldest] = await Promise.all([
      invocations.list({ ...ONCE, limit: MOST_INVOCATIONS, isFailing: true }),
      invocations.list({ ...ONCE, limit: MOST_INVOCATIONS }),
    ]);
    return [...new Map([...oldest, ...failing].map((one) => [one.id, one])).values()];
  }

  async #register(form: HTMLFormElement): Promise<void> {
    const uri = (form.elements.namedItem('uri') as HTMLInputElement).value;
    const force = (form.elements.namedItem('force') as HTMLInputElement).checked;
    const outcome = byId('register-outcome');
    outcome.textContent = 'Restate asks the address…';
    try {
      const { services } = await commandGateway.deployments.register(uri, { ...ONCE, force });
      outcome.textContent = `Registered: ${services.map(({ name }) => name).join(', ')}`;
      form.reset();
    } catch (error) {
      outcome.textContent = `Not registered: ${reasonOf(error)}`;
    }
    await this.#refresh();
  }
}
