import type { Measurements } from '../results.ts';
import type { FanOutTable } from '../scenarios/fan-out.ts';
import type { ReadsTable } from '../scenarios/reads.ts';
import { count } from './format.ts';
import { linePlot, type Colour, type PlotLine } from './line-plot.ts';

const RATE_LINES: { id: string; label: string; colour: Colour }[] = [
  { id: 'nginx', label: 'nginx, one worker', colour: 'green' },
  { id: 'bare-undici', label: 'bare Node and undici', colour: 'purple' },
  { id: 'gateway', label: 'agent gateway', colour: 'blue' },
  { id: 'fastify-http-proxy', label: '@fastify/http-proxy', colour: 'orange' },
];

/** The plots of the results as SVG files by name. */
export function plots(measured: Partial<Measurements>): Map<string, string> {
  const files = new Map<string, string>();
  if (measured.plain) files.set('performance-rate.svg', ratePlot(measured.plain.node));
  const fanOut = measured['fan-out'];
  if (fanOut) {
    files.set('performance-delivery.svg', deliveryPlot(fanOut));
  }
  return files;
}

function ratePlot({ rows }: ReadsTable): string {
  const connections = [...new Set(rows.map((row) => row.connections))].sort((a, b) => a - b);
  return linePlot({
    title: 'Plain reads a second by connections',
    xTitle: 'connections',
    yTitle: 'reads of 1 KiB a second',
    xTicks: connections.map(count),
    lines: RATE_LINES.map(({ id, ...line }) => ({
      ...line,
      values: connections.map(
        (each) =>
          rows.find((row) => row.id === id && row.connections === each)?.requestsPerSecond.median,
      ),
    })),
  });
}

function deliveryPlot(table: FanOutTable): string {
  const { readers, values } = byReaders(table);
  const lines: PlotLine[] = [
    { label: 'nginx, p99', colour: 'green', values: values('nginx', (row) => row.p99Ms.median) },
    {
      label: 'nginx, p50',
      colour: 'green',
      isDashed: true,
      values: values('nginx', (row) => row.p50Ms.median),
    },
    {
      label: 'agent gateway, p99',
      colour: 'blue',
      values: values('gateway', (row) => row.p99Ms.median),
    },
    {
      label: 'agent gateway, p50',
      colour: 'blue',
      isDashed: true,
      values: values('gateway', (row) => row.p50Ms.median),
    },
  ];
  return linePlot({
    title: 'Milliseconds from the append of an event to its readers, by readers',
    xTitle: 'readers parked on one timeline',
    yTitle: 'ms from the append to a reader',
    xTicks: readers.map(count),
    lines,
  });
}

type Row = FanOutTable['rows'][number];

function byReaders(table: FanOutTable): {
  readers: number[];
  values: (id: string, pick: (row: Row) => number) => (number | undefined)[];
} {
  const rows = table.rows.filter(({ live }) => live === 'long-poll');
  const readers = [...new Set(rows.map((row) => row.readers))].sort((a, b) => a - b);
  return {
    readers,
    values: (id, pick) =>
      readers.map((each) => {
        const row = rows.find((candidate) => candidate.id === id && candidate.readers === each);
        return row && row.failure === undefined ? pick(row) : undefined;
      }),
  };
}
