import type { FanOutRow, FanOutTable } from '../scenarios/fan-out.ts';
import { count } from './reads-table.ts';

/** Tables of Markdown, one for each number of readers. */
export function fanOutTables({ rows }: FanOutTable): string {
  const readers = [...new Set(rows.map((row) => row.readers))];
  return readers
    .map((number) =>
      table(
        number,
        rows.filter((row) => row.readers === number),
      ),
    )
    .join('\n\n');
}

function table(readers: number, rows: FanOutRow[]): string {
  return [
    `| ${count(readers)} readers | p50 ms | p99 ms | store requests an event | CPU µs a delivery | of it the store |`,
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map(
      (row) =>
        `| ${[
          row.id === 'gateway' ? `**${row.label}**` : row.label,
          row.p50Ms.median.toFixed(1),
          row.p99Ms.median.toFixed(1),
          row.storeRequestsPerEvent.median.toFixed(1),
          (row.contenderCpuUs.median + row.storeCpuUs.median).toFixed(1),
          row.storeCpuUs.median.toFixed(1),
        ].join(' | ')} |`,
    ),
  ].join('\n');
}
