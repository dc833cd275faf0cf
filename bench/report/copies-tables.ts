import type { CopiesDeliveryRow, CopiesTable } from '../scenarios/copies.ts';
import type { Spread } from '../measure/statistics.ts';
import { count, mebibytes, nameOf, range, short, table, trouble } from './format.ts';
import { readsTables } from './reads-tables.ts';

/** Every number of the part. */
export function copiesTables({ reads, delivery }: CopiesTable): string {
  return `${readsTables(reads)}\n\n${deliveryTable(delivery)}`;
}

function deliveryTable(rows: readonly CopiesDeliveryRow[]): string {
  const readers = rows[0]?.readers ?? Number.NaN;
  return table(
    [
      `${count(readers)} readers, long-poll`,
      'p50 ms',
      'p99 ms',
      'CPU µs',
      'parked',
      'after events',
    ],
    rows.map((row) => [
      nameOf(row) + trouble(row),
      range(row.p50Ms, short),
      range(row.p99Ms, short),
      range(row.cpuUs, short),
      mib(row.parkedBytes),
      mib(row.afterEventsBytes),
    ]),
  );
}

function mib({ median }: Spread): string {
  return Number.isNaN(median) ? '–' : mebibytes(median);
}
