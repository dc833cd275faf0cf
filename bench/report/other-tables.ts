import type { CommandsTable } from '../scenarios/commands.ts';
import type { LargeBodyTable } from '../scenarios/large-body.ts';
import type { MemoryTable, ParkedMemory } from '../scenarios/memory.ts';
import type { StartTable } from '../scenarios/start.ts';
import { count, leftOut, mebibytes, nameOf, range, short, table } from './format.ts';

export function memoryTables({ shared, unshared, steps }: MemoryTable): string {
  const parked = table(
    ['parked reads of one timeline', 'just started', 'parked', 'parked, after events', 'a reader'],
    [
      parkedRow(`${count(shared.readers)}, shared`, shared),
      parkedRow(`${count(unshared.readers)}, sharing off`, unshared),
    ],
  );
  const through = table(
    ['one after the other', 'at most', 'at rest after it'],
    steps.map(({ name, peakBytes, afterBytes }) => [
      name,
      mebibytes(peakBytes),
      mebibytes(afterBytes),
    ]),
  );
  return `${parked}\n\n${through}`;
}

function parkedRow(name: string, { readers, bytes, failure }: ParkedMemory): string[] {
  if (failure !== undefined) return [`${name} (failed: ${failure})`, '', '', '', ''];
  return [
    name,
    mebibytes(bytes.atStart),
    mebibytes(bytes.parked),
    mebibytes(bytes.afterEvents),
    `${short((bytes.parked - bytes.atStart) / readers / 1024)} KiB`,
  ];
}

export function largeBodyTable({ bodyBytes, rows, missing }: LargeBodyTable): string {
  const gateway = rows.find(({ id }) => id === 'gateway')?.mibPerSecond.median ?? Number.NaN;
  const lines = rows.map((row) => [
    nameOf(row) + (row.failure === undefined ? '' : ` (failed: ${row.failure})`),
    range(row.mibPerSecond, count),
    short(gateway / row.mibPerSecond.median),
    row.cpuMs ? count(row.cpuMs.median) : '',
  ]);
  const head = [`one body of ${mebibytes(bodyBytes)}`, 'MiB a second', 'gateway ÷ this', 'CPU ms'];
  return table(head, lines) + leftOut(missing);
}

export function commandsTable({ rows }: CommandsTable): string {
  return table(
    ['commands', 'at once', 'a second', 'p50 ms', 'p99 ms'],
    rows.map((row) => [
      nameOf(row) + (row.failure === undefined ? '' : ` (failed: ${row.failure})`),
      String(row.connections),
      range(row.commandsPerSecond, count),
      range(row.p50Ms, short),
      short(row.p99Ms.median),
    ]),
  );
}

export function startTable({ starts, firstAnswerMs }: StartTable): string {
  return table(
    ['start', 'first answer after', 'least to most'],
    [
      [
        `${starts} starts of the built gateway`,
        `${count(firstAnswerMs.median)} ms`,
        `${count(firstAnswerMs.min)} to ${count(firstAnswerMs.max)} ms`,
      ],
    ],
  );
}
