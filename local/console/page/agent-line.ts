import type { EntityRow } from '../../../packages/client/src/index.ts';
import { agentOfUrl, hashOf } from './agent-address.ts';
import type { Failure, Listed } from './agent-list.ts';
import { element } from './element.ts';
import { reasonLine } from './reason.ts';
import { age, nextTry } from './times.ts';

const DEEPEST = 4;

/** The elements of an agent's row in the list, still empty. */
export function newAgentLine({ row: { url, type, id } }: Listed): HTMLElement {
  const link = element('a', { href: hashOf({ type, id }), className: 'open' }, id);
  link.dataset.testid = 'open';
  link.title = id;
  return element(
    'li',
    { className: 'row', dataset: { testid: 'catalog-row', url } },
    element('div', { className: 'main' }, link),
    element('span', { className: 'type' }, type),
    element('span', { className: 'pill' }),
    element('span', { className: 'activity' }),
    element('p', { className: 'reason', dataset: { testid: 'row-reason' } }),
  );
}

/** Shows an agent in its row. */
export function fillAgentLine(
  line: HTMLElement,
  { row, depth, status, failure }: Listed,
  isSelected: boolean,
): void {
  const [, , pill, activity, reason] = [...line.children] as HTMLElement[];
  if (!pill || !activity || !reason) return;
  showStatus(pill, status);
  line.classList.toggle('selected', isSelected);
  line.dataset.depth = String(Math.min(depth, DEEPEST));
  line.setAttribute('aria-level', String(depth + 1));
  const link = line.querySelector('.open');
  if (isSelected) link?.setAttribute('aria-current', 'true');
  else link?.removeAttribute('aria-current');
  setText(activity, age(row.updated_at));
  activity.title = `Last activity ${new Date(row.updated_at).toLocaleString()}`;
  setText(reason, failure ? failureText(failure) : orphanText(row, depth));
  reason.hidden = reason.textContent === '';
  reason.classList.toggle('failure', failure !== undefined);
}

/** A child whose parent is not listed above it. */
function orphanText({ parent }: EntityRow, depth: number): string {
  const agent = parent !== null && depth === 0 ? agentOfUrl(parent) : undefined;
  return agent ? `child of ${agent.id}` : '';
}

/** In one line: why, which attempt, when the next is. */
function failureText({ reason, tries, since, nextTryAt }: Failure): string {
  const facts = [
    tries === undefined ? '' : `attempt ${tries}`,
    since === undefined ? '' : `for ${age(since)}`,
    nextTry(nextTryAt),
  ];
  return [reasonLine(reason), ...facts].filter(Boolean).join(' · ');
}

export function showStatus(pill: HTMLElement, status: string): void {
  setText(pill, status);
  pill.dataset.status = status;
}

function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}
