import type { Deployment, Service } from '../../../packages/client/src/index.ts';
import { element } from './element.ts';
import { timeElement } from './times.ts';

/** Whether Restate reaches a deployment, or why not. */
export type Health = { isWell: boolean; text: string };

export interface DeploymentState {
  deployment: Deployment;
  services: readonly Service[];
  /** Undefined until Restate has asked it. */
  health: Health | undefined;
  /** How many invocations fail there. */
  failing: number;
}

/** Restate gives the handlers in a new order each time. */
const HANDLER_ORDER = ['spawn', 'wake', 'control'];

/** One deployment: its address, how it is, what it serves. Its one button removes it. */
export function deploymentLine(state: DeploymentState): HTMLElement {
  const { deployment, services, health } = state;
  const { id, created_at: createdAt } = deployment;
  const name = stateName(state);
  return element(
    'li',
    { className: 'deployment', dataset: { testid: 'deployment', state: name } },
    headOf(state, name),
    element(
      'p',
      { className: 'dim' },
      element('code', {}, id),
      ' since ',
      timeElement(typeof createdAt === 'string' ? createdAt : undefined),
      ...(name === 'superseded' ? [' · newer deployments serve all its types'] : []),
    ),
    ...(health && !health.isWell ? [element('p', { className: 'failure' }, health.text)] : []),
    element('ul', { className: 'services' }, ...servicesOf(deployment, services)),
  );
}

function headOf(
  { deployment: { id, uri = id }, failing }: DeploymentState,
  name: string,
): HTMLElement {
  const remove = element(
    'button',
    { type: 'button', className: 'small danger needs-runtime' },
    'Remove…',
  );
  remove.setAttribute('aria-label', `Remove ${uri}`);
  const pill = (text: string, status: string): HTMLElement =>
    element('span', { className: 'pill', dataset: { status } }, text);
  return element(
    'div',
    { className: 'deployment-head' },
    element('h3', {}, uri),
    pill(name, name),
    ...(failing > 0 ? [pill(`${failing} failing`, 'failing')] : []),
    element('span', { className: 'actions' }, remove),
  );
}

function stateName({ deployment, services, health }: DeploymentState): string {
  if (isSuperseded(deployment, services)) return 'superseded';
  if (!health) return 'checking';
  return health.isWell ? 'well' : 'unreachable';
}

/** Whether newer deployments serve all that it serves. */
export function isSuperseded(
  { id, services: own }: Deployment,
  services: readonly Service[],
): boolean {
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
