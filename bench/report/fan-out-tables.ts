import type { FanOutRow, FanOutTable } from '../scenarios/fan-out.ts';
import { count, leftOut, nameOf, range, short, table } from './format.ts';

/** One table for each number of readers. */
export function fanOutTables({ rows, missing }: FanOutTable): string {
  const readers = [...new Set(rows.map((row) => row.readers))];
  const tables = readers.map((each) =>
    fanOutTable(
      each,
      rows.filter((row) => row.readers === each),
    ),
  );
  return tables.join('\n\n') + leftOut(missing);
}

function fanOutTable(readers: number, rows: FanOutRow[]): string {
  return table(
    [
      `${count(readers)} readers`,
      'p50 ms',
      'p99 ms',
      'store requests an event',
      'CPU µs a delivery',
      'of them the store',
    ],
    rows.map((row) => [
      nameOf(row) + (row.failure === undefined ? '' : ` (failed: ${row.failure})`),
      short(row.p50Ms.median),
      range(row.p99Ms, short),
      short(row.storeRequestsPerEvent.median),
      short(row.contenderCpuUs.median + row.storeCpuUs.median),
      short(row.storeCpuUs.median),
    ]),
  );
}
