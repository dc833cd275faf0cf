import type { Deployment, Service } from '../../../client/src/index.ts';
import { boldHeading, inColumns } from '../output/columns.ts';
import { plainLine } from '../output/plain-text.ts';
import type { Styled } from '../output/styled.ts';
import { newWorkInWords, newWorkOf } from './new-work.ts';

/** Every deployment, with whether it takes new work. */
export function deploymentTable(
  deployments: readonly Deployment[],
  services: readonly Service[],
  width: number | undefined,
): Styled {
  const rows = deployments.map((deployment) => {
    const [id, uri, names] = cells(deployment);
    return [id, uri, newWorkInWords(newWorkOf(deployment, services)), names];
  });
  return inColumns([['ID', 'ADDRESS', 'NEW_WORK', 'SERVICES'], ...rows], boldHeading, width);
}

export function deploymentLine(deployment: Deployment): string {
  return plainLine(cells(deployment).join('  '));
}

function cells({ id, uri, services }: Deployment): [string, string, string] {
  const names = services.map(({ name }) => name).sort();
  return [id, uri ?? '–', names.join(', ')];
}
