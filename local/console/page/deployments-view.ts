import type { Deployment, Invocation, Service } from '../../../packages/client/src/index.ts';
import { commandGateway, ONCE, reasonOf } from './gateway.ts';
import { byId, element } from './element.ts';
import { InvocationList } from './invocation-list.ts';
import { notice } from './notice.ts';
import { timeElement } from './times.ts';

const REFRESH_MS = 5_000;
/** Restate asks each address again, so that health is what Restate sees. */
const MOST_CHECKED = 20;
const MOST_INVOCATIONS = 200;
/** Restate gives the handlers in a new order each time. */
const HANDLER_ORDER = ['spawn', 'wake', 'control'];

/** Whether Restate reaches a deployment, or why not. */
type Health = { isWell: boolean; text: string };

/** The page of deployments: who serves which agents, how that goes, and what has not ended. */
export class DeploymentsView {
  readonly #problem = byId('deployments-problem');
  readonly #invocations = new InvocationList(byId('invocations'));
  readonly #health = new Map<string, Health>();
  #removing: Deployment | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;

  constructor() {
    byId<HTMLFormElement>('register').addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#register(event.target as HTMLFormElement);
    });
    byId<HTMLDialogElement>('remove').addEventListener('close', (event) => {
      const dialog = event.target as HTMLDialogElement;
      if (dialog.returnValue === 'remove' && this.#removing) void this.#remove(this.#removing);
      dialog.returnValue = '';
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
      this.#show(deployments, services, invocations);
      this.#problem.textContent = '';
      void this.#check(deployments).then(() => this.#show(deployments, services, invocations));
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

  async #check(deployments: readonly Deployment[]): Promise<void> {
    await Promise.all(
      deployments.slice(0, MOST_CHECKED).map(async ({ id, uri }) => {
        if (uri === undefined) return;
        try {
          const call = { ...ONCE, dryRun: true, force: true };
          await commandGateway.deployments.register(uri, call);
          this.#health.set(id, { isWell: true, text: 'Restate reaches it' });
        } catch (error) {
          const text = `Restate does not reach it: ${reasonOf(error)}`;
          this.#health.set(id, { isWell: false, text });
        }
      }),
    );
  }

  #show(
    deployments: readonly Deployment[],
    services: readonly Service[],
    invocations: readonly Invocation[],
  ): void {
    byId('deployments-empty').hidden = deployments.length > 0;
    const sorted = deployments.toSorted(
      (a, b) =>
        Number(isSuperseded(a, services)) - Number(isSuperseded(b, services)) ||
        String(b.created_at).localeCompare(String(a.created_at)),
    );
    const lines = sorted.map((one) => this.#line(one, services, invocations));
    replaceIfOther(byId('deployments'), lines);
    byId('invocations-empty').hidden = invocations.length > 0;
    this.#invocations.show(invocations);
  }

  #line(
    deployment: Deployment,
    services: readonly Service[],
    invocations: readonly Invocation[],
  ): HTMLElement {
    const { id, uri, created_at: createdAt } = deployment;
    const health = this.#health.get(id);
    const superseded = isSuperseded(deployment, services);
    const failing = invocations.filter(
      ({ deploymentId, lastFailure }) => deploymentId === id && lastFailure !== undefined,
    ).length;
    const remove = element(
      'button',
      { type: 'button', className: 'small danger needs-runtime' },
      'Remove…',
    );
    remove.addEventListener('click', () => this.#askToRemove(deployment));
    remove.setAttribute('aria-label', `Remove ${uri ?? id}`);
    const state = superseded
      ? 'superseded'
      : health
        ? health.isWell
          ? 'well'
          : 'unreachable'
        : 'checking';
    return element(
      'li',
      { className: 'deployment', dataset: { testid: 'deployment', state } },
      element(
        'div',
        { className: 'deployment-head' },
        element('h3', {}, uri ?? id),
        element('span', { className: 'pill', dataset: { status: state } }, state),
        ...(failing > 0
          ? [
              element(
                'span',
                { className: 'pill', dataset: { status: 'failing' } },
                `${failing} failing`,
              ),
            ]
          : []),
        element('span', { className: 'actions' }, remove),
      ),
      element(
        'p',
        { className: 'dim' },
        element('code', {}, id),
        ' since ',
        timeElement(typeof createdAt === 'string' ? createdAt : undefined),
        ...(superseded ? [' · newer deployments serve all its types'] : []),
      ),
      ...(health && !health.isWell ? [element('p', { className: 'failure' }, health.text)] : []),
      element('ul', { className: 'services' }, ...servicesOf(deployment, services)),
    );
  }

  #askToRemove(deployment: Deployment): void {
    this.#removing = deployment;
    byId('remove-title').textContent = `Remove ${deployment.uri ?? deployment.id}?`;
    byId<HTMLDialogElement>('remove').showModal();
  }

  async #remove({ id, uri = id }: Deployment): Promise<void> {
    try {
      await commandGateway.deployments.remove(id, { ...ONCE, force: true });
      notice(`Removed: ${uri}`);
    } catch (error) {
      notice(`Not removed: ${reasonOf(error)}`, 'failed');
    }
    await this.#refresh();
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

/** Whether newer deployments serve all that it serves. */
function isSuperseded({ id, services: own }: Deployment, services: readonly Service[]): boolean {
  const isNewest = ({ name }: { name: string }): boolean =>
    services.some((service) => service.name === name && service.deployment_id === id);
  return !own.some(isNewest);
}

function servicesOf(
  { id, services: own }: Deployment,
  services: readonly Service[],
): HTMLElement[] {
  return own
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map(({ name }) => {
      const newest = services.find((service) => service.name === name);
      const isOwn = newest?.deployment_id === id;
      const handlers = isOwn ? newest.handlers.map((handler) => handler.name).sort(byOrder) : [];
      const isAgent = handlers.includes('wake');
      return element(
        'li',
        {},
        isAgent ? element('a', { href: `#/?type=${name}` }, name) : element('b', {}, name),
        ' ',
        element('span', { className: 'dim' }, isOwn ? kindOf(newest) : 'superseded'),
        ...(isOwn ? [': ', handlers.join(', ')] : []),
      );
    });
}

/** Such as `virtual object`. */
function kindOf({ ty }: Service): string {
  return ty.replace(/(?<=[a-z])(?=[A-Z])/, ' ').toLowerCase();
}

function byOrder(a: string, b: string): number {
  const place = (name: string): number =>
    HANDLER_ORDER.includes(name) ? HANDLER_ORDER.indexOf(name) : HANDLER_ORDER.length;
  return place(a) - place(b) || a.localeCompare(b);
}

/** An unchanged list keeps its elements, and with them the focus. */
function replaceIfOther(list: HTMLElement, lines: HTMLElement[]): void {
  const made = element('ul', {}, ...lines);
  if (made.innerHTML !== list.innerHTML) list.replaceChildren(...lines);
}
