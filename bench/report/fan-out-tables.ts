import type { FanOutRow, FanOutTable } from '../scenarios/fan-out.ts';
import { count, leftOut, nameOf, range, short, table, trouble } from './format.ts';

/** One table for each number of long-poll readers, and one for event streams. */
export function fanOutTables({ rows, missing }: FanOutTable): string {
  const occasions = [...new Set(rows.map(occasion))];
  const tables = occasions.map((each) =>
    fanOutTable(
      each,
      rows.filter((row) => occasion(row) === each),
    ),
  );
  return tables.join('\n\n') + leftOut(missing);
}

function occasion({ readers, live }: FanOutRow): string {
  return `${count(readers)} readers, ${live === 'sse' ? 'event streams' : 'long-poll'}`;
}

function fanOutTable(title: string, rows: FanOutRow[]): string {
  return table(
    [
      title,
      'p50 ms',
      'p99 ms',
      'store requests to park',
      'an event',
      'CPU µs a delivery',
      'of them the store',
    ],
    rows.map((row) => [
      nameOf(row) + trouble(row),
      short(row.p50Ms.median),
      range(row.p99Ms, short),
      count(row.storeRequestsToPark.median),
      short(row.storeRequestsPerEvent.median),
      short(row.contenderCpuUs.median + row.storeCpuUs.median),
      short(row.storeCpuUs.median),
    ]),
  );
}

/** The gateway, nginx and the limit of Node with the most readers, in one table. */
export function fanOutSummary({ rows }: FanOutTable): string {
  const most = (live: FanOutRow['live']): number =>
    Math.max(...rows.filter((row) => row.live === live).map(({ readers }) => readers));
  const shown = rows.filter(
    ({ id, live, readers }) =>
      ['gateway', 'nginx', 'dutiful-shared'].includes(id) && readers === most(live),
  );
  return table(
    [
      'an event to',
      'by',
      'p50 ms',
      'p99 ms',
      'store requests',
      'CPU µs a delivery, store included',
    ],
    shown.map((row) => [
      occasion(row),
      nameOf(row),
      short(row.p50Ms.median),
      short(row.p99Ms.median),
      count(row.storeRequestsPerEvent.median),
      short(row.contenderCpuUs.median + row.storeCpuUs.median),
    ]),
  );
}
