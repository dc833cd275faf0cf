import type { Spread } from '../measure/statistics.ts';
import type { ReadsRow, ReadsTable } from '../scenarios/reads.ts';

/** A table of Markdown, an own one for each number of connections; fastest first. */
export function readsTables({ rows }: ReadsTable): string {
  const connections = [...new Set(rows.map((row) => row.connections))];
  return connections
    .map((count) =>
      readsTable(
        count,
        rows.filter((row) => row.connections === count),
      ),
    )
    .join('\n\n');
}

function readsTable(connections: number, rows: ReadsRow[]): string {
  const gateway = rows.find(({ id }) => id === 'gateway')?.requestsPerSecond.median;
  const lines = [...rows]
    .sort((a, b) => b.requestsPerSecond.median - a.requestsPerSecond.median)
    .map((row) => {
      const ratio =
        gateway === undefined ? '' : (gateway / row.requestsPerSecond.median).toFixed(2);
      return `| ${[
        row.id === 'gateway' ? `**${row.label}**` : row.label,
        rate(row.requestsPerSecond),
        row.id === 'gateway' ? '' : ratio,
        row.p50Ms.median.toFixed(1),
        row.p99Ms.median.toFixed(1),
        row.cpuUsPerRequest?.median.toFixed(0) ?? '',
        row.errors === 0 ? '' : `${row.errors} errors`,
      ].join(' | ')} |`;
    });
  return [
    `| ${connections} connections | requests/s (least to most) | gateway to this | p50 ms | p99 ms | CPU µs a request | |`,
    '| --- | ---: | ---: | ---: | ---: | ---: | --- |',
    ...lines,
  ].join('\n');
}

function rate({ median, min, max }: Spread): string {
  return `${count(median)} (${count(min)} to ${count(max)})`;
}

export function count(number: number): string {
  return Math.round(number).toLocaleString('en-US');
}
