import { get, post, RefusedError } from './console-api.ts';
import { byId, element } from './element.ts';
import { timeElement } from './times.ts';

/** The response of the console's `/deployments.json`. */
interface Overview {
  deployments: {
    id: string;
    uri: string;
    services: { name: string; kind: string; handlers: string[] }[];
  }[];
  invocations: {
    id: string;
    target: string;
    status: string;
    createdAt: string;
    tries: number;
    lastFailure?: string;
  }[];
}

const REFRESH_MS = 5_000;

/**
 * The page of deployments: who serves which agents, and unfinished invocations. It is refreshed while it is open.
 */
export class DeploymentsView {
  readonly #problem = byId('deployments-problem');
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;

  constructor() {
    byId<HTMLFormElement>('register').addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#register(event.target as HTMLFormElement);
    });
    byId('invocations').addEventListener('click', (event) => {
      const { cancel } = (event.target as HTMLElement).dataset;
      if (cancel !== undefined) void this.#cancel(cancel);
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
      this.#show(await get<Overview>('/deployments.json'));
      this.#problem.textContent = '';
    } catch (error) {
      this.#problem.textContent = `Restate's registry cannot be read: ${reasonOf(error)} Next try in ${REFRESH_MS / 1_000} s.`;
    }
    if (this.#isOpen) this.#timer = setTimeout(() => void this.#refresh(), REFRESH_MS);
  }

  #show({ deployments, invocations }: Overview): void {
    byId('deployments-empty').hidden = deployments.length > 0;
    byId('deployments').replaceChildren(
      ...deployments.map(({ id, uri, services }) =>
        element(
          'li',
          { className: 'deployment', dataset: { testid: 'deployment' } },
          element('h3', {}, uri),
          element('p', { className: 'id' }, element('code', {}, id)),
          element(
            'ul',
            {},
            ...services.map(({ name, kind, handlers }) =>
              element(
                'li',
                {},
                element('b', {}, name),
                ` ${kind.replace(/(?<=[a-z])(?=[A-Z])/, ' ').toLowerCase()}: ${handlers.join(', ')}`,
              ),
            ),
          ),
        ),
      ),
    );
    byId('invocations-empty').hidden = invocations.length > 0;
    byId('invocations').replaceChildren(...invocations.map(invocationLine));
  }

  async #register(form: HTMLFormElement): Promise<void> {
    const uri = (form.elements.namedItem('uri') as HTMLInputElement).value;
    const force = (form.elements.namedItem('force') as HTMLInputElement).checked;
    const outcome = byId('register-outcome');
    outcome.textContent = 'Restate asks the address…';
    try {
      const { body } = await post<{ services: string[] }>('/deployments', { uri, force });
      outcome.textContent = `Registered: ${body.services.join(', ')}`;
      form.reset();
    } catch (error) {
      outcome.textContent = `Not registered: ${reasonOf(error)}`;
    }
    await this.#refresh();
  }

  async #cancel(id: string): Promise<void> {
    try {
      await post(`/invocations/${id}/cancel`, {});
    } catch (error) {
      this.#problem.textContent = `Not cancelled: ${reasonOf(error)}`;
      return;
    }
    await this.#refresh();
  }
}

function invocationLine({
  id,
  target,
  status,
  createdAt,
  tries,
  lastFailure,
}: Overview['invocations'][number]): HTMLElement {
  const cancel = element('button', { type: 'button', dataset: { cancel: id } }, 'Cancel');
  cancel.setAttribute('aria-label', `Cancel ${target}`);
  return element(
    'li',
    { className: 'invocation', dataset: { testid: 'invocation' } },
    element('b', {}, target),
    element('span', { className: 'pill', dataset: { status } }, status),
    element('span', {}, 'since ', timeElement(createdAt), `, tries: ${tries}`),
    cancel,
    ...(lastFailure === undefined ? [] : [element('p', { className: 'failure' }, lastFailure)]),
  );
}

function reasonOf(error: unknown): string {
  return error instanceof RefusedError ? error.message : 'the console does not answer.';
}
