import type { Measurements } from '../results.ts';
import type { ReadsRow, ReadsTable } from '../scenarios/reads.ts';
import { count, leftOut, nameOf, range, short, table, trouble } from './format.ts';

/** The number of connections that the page shows. */
const SHOWN_CONNECTIONS = 64;

type Rows = Pick<ReadsTable, 'rows'>;

function rowOf({ rows }: Rows, id: string, connections: number): ReadsRow | undefined {
  return rows.find((row) => row.id === id && row.connections === connections);
}

/** Requests a second. NaN if they were not measured. */
export function rateOf(table: Rows, id: string, connections: number): number {
  return rowOf(table, id, connections)?.requestsPerSecond.median ?? Number.NaN;
}

/** One table for each number of connections, with the fastest contender first. */
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
    sorted.map((row) => [nameOf(row) + readsTrouble(row), ...numbers(row, gateway)]),
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

function readsTrouble(row: ReadsRow): string {
  const { errors, failure } = row;
  if (failure !== undefined) return trouble(row);
  return errors > 0 ? ` (${errors} requests went wrong)` : '';
}

/** Reads a second of the gateway, two peers and Node with the duties, with each kind of upstream. */
export function plainSummary({ node, nginx }: Measurements['plain']): string {
  return summary(
    `reads a second, ${SHOWN_CONNECTIONS} connections`,
    { 'Node upstream': node, 'nginx upstream': nginx },
    ['nginx', 'gateway', 'fastify-http-proxy', 'dutiful-sockets'],
    { 'CPU µs a read': node },
  );
}

/** A table with a row for each contender and a column for each upstream. */
function summary(
  title: string,
  upstreams: Record<string, ReadsTable>,
  ids: readonly string[],
  cpu: Record<string, ReadsTable>,
): string {
  const columns = Object.entries(upstreams).map(([name, { rows }]) => ({ name, rows }));
  return table(
    [title, ...columns.map(({ name }) => name), ...Object.keys(cpu)],
    ids.map((id) => {
      const named = Object.values(upstreams).flatMap(
        ({ rows }) => rows.find((row) => row.id === id) ?? [],
      );
      return [
        named[0] ? nameOf(named[0]) : id,
        ...columns.map(({ rows }) => count(rateOf({ rows }, id, SHOWN_CONNECTIONS))),
        ...Object.values(cpu).map(({ rows }) =>
          short(rowOf({ rows }, id, SHOWN_CONNECTIONS)?.cpuUsPerRequest?.median ?? Number.NaN),
        ),
      ];
    }),
  );
}
