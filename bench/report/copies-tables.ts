import type { CopiesDeliveryRow, CopiesTable } from '../scenarios/copies.ts';
import type { Spread } from '../measure/statistics.ts';
import { count, mebibytes, nameOf, range, short, table, trouble } from './format.ts';
import { rateOf, readsTables } from './reads-tables.ts';

/** Every number of the part. */
export function copiesTables({ reads, delivery }: CopiesTable): string {
  return `${readsTables(reads)}\n\n${deliveryTable(delivery)}`;
}

/** One line for each number of processes of the gateway and of nginx. */
export function copiesSummary({ reads, delivery }: CopiesTable): string {
  const readers = delivery[0]?.readers ?? Number.NaN;
  return table(
    [
      'processes on two cores',
      'reads a second, 64 connections',
      `an event to ${count(readers)} readers, p50 ms`,
      'p99 ms',
      'CPU µs a delivery',
      'memory, parked',
      'after events',
    ],
    delivery.map((row) => [
      nameOf(row),
      count(rateOf(reads, row.id, 64)),
      short(row.p50Ms.median),
      short(row.p99Ms.median),
      short(row.cpuUs.median),
      mib(row.parkedBytes),
      mib(row.afterEventsBytes),
    ]),
  );
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
