import type { ReadsRow, ReadsTable } from '../scenarios/reads.ts';
import { count, leftOut, nameOf, range, short, table } from './format.ts';

/** One table for each number of connections, the fastest first. */
export function readsTables({ rows, missing }: ReadsTable): string {
  const connections = [...new Set(rows.map((row) => row.connections))];
  const tables = connections.map((each) =>
    readsTable(
      each,
      rows.filter((row) => row.connections === each),
    ),
  );
  return tables.join('\n\n') + leftOut(missing);
}

function readsTable(connections: number, rows: ReadsRow[]): string {
  const gateway = rows.find(({ id }) => id === 'gateway')?.requestsPerSecond.median ?? Number.NaN;
  const sorted = [...rows].sort((a, b) => b.requestsPerSecond.median - a.requestsPerSecond.median);
  return table(
    [
      `${connections} connections`,
      'requests a second',
      'gateway ÷ this',
      'p50 ms',
      'p99 ms',
      'CPU µs a request',
    ],
    sorted.map((row) => [nameOf(row) + trouble(row), ...numbers(row, gateway)]),
  );
}

function numbers(row: ReadsRow, gateway: number): string[] {
  return [
    range(row.requestsPerSecond, count),
    short(gateway / row.requestsPerSecond.median),
    short(row.p50Ms.median),
    short(row.p99Ms.median),
    row.cpuUsPerRequest ? short(row.cpuUsPerRequest.median) : '',
  ];
}

function trouble({ errors, failure }: ReadsRow): string {
  if (failure !== undefined) return ` (failed: ${failure})`;
  return errors > 0 ? ` (${errors} requests went wrong)` : '';
}
