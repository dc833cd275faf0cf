import type { CommandsTable } from '../scenarios/commands.ts';
import type { LargeBodyTable } from '../scenarios/large-body.ts';
import type { MemoryTable, ParkedMemory } from '../scenarios/memory.ts';
import type { OutageTable } from '../scenarios/outage.ts';
import type { StartTable } from '../scenarios/start.ts';
import type { TokensTable } from '../scenarios/tokens.ts';
import { count, leftOut, mebibytes, nameOf, range, short, table, trouble } from './format.ts';

/** The gateway and the bare server with its duties. */
export function parkedSummary({ shared, own, duties }: MemoryTable): string {
  return memoryOf([shared, duties.shared], [own, duties.own]);
}

export function parkedTable({ shared, own, bare, duties, largeYoung }: MemoryTable): string {
  return memoryOf(
    [shared, largeYoung.shared, bare.shared, duties.shared],
    [own, largeYoung.own, bare.own, duties.own],
  );
}

function memoryOf(onOne: readonly ParkedMemory[], each: readonly ParkedMemory[]): string {
  return table(
    [
      'parked readers',
      'at',
      'just started',
      'parked',
      'after events',
      'a reader, after events',
      'the kernel besides',
    ],
    [
      ...onOne.map((parked) => parkedRow(' on one timeline', parked)),
      ...each.map((parked) => parkedRow(', each on its own timeline', parked)),
    ],
  );
}

export function stepsTable({ steps }: MemoryTable): string {
  return table(
    ['one after the other', 'at most', 'at rest after it'],
    steps.map(({ name, peakBytes, afterBytes }) => [
      name,
      mebibytes(peakBytes),
      mebibytes(afterBytes),
    ]),
  );
}

function parkedRow(
  where: string,
  { label, readers, bytes, kernelBytes, failure }: ParkedMemory,
): string[] {
  const what = count(readers) + where;
  if (failure !== undefined) return [`${what} (failed: ${failure})`, label, '', '', '', '', ''];
  return [
    what,
    label,
    mebibytes(bytes.atStart),
    mebibytes(bytes.parked),
    mebibytes(bytes.afterEvents),
    `${short((bytes.afterEvents - bytes.atStart) / readers / 1024)} KiB`,
    mebibytes(kernelBytes),
  ];
}

export function largeBodyTable({ bodyBytes, rows, missing }: LargeBodyTable): string {
  const gateway = rows.find(({ id }) => id === 'gateway')?.mibPerSecond.median ?? Number.NaN;
  const lines = rows.map((row) => [
    nameOf(row) + trouble(row),
    range(row.mibPerSecond, count),
    short(gateway / row.mibPerSecond.median),
    row.cpuMs ? count(row.cpuMs.median) : '',
  ]);
  const head = [`one body of ${mebibytes(bodyBytes)}`, 'MiB a second', 'gateway ÷ this', 'CPU ms'];
  return table(head, lines) + leftOut(missing);
}

export function commandsTable(measured: CommandsTable): string {
  return commandsOf(measured, range);
}

const SHOWN_FOR_COMMANDS = ['gateway', 'direct', 'dutiful-nest'];

/** The gateway, a real runtime without it, and Nest with the duties: the medians. */
export function commandsSummary({ rows }: CommandsTable): string {
  const shown = rows.filter(({ id }) => SHOWN_FOR_COMMANDS.includes(id));
  return commandsOf({ rows: shown, instant: [] }, ({ median }, format) => format(median));
}

function commandsOf({ rows, instant }: CommandsTable, shown: typeof range): string {
  const lines = [
    ...rows.map((row) => ({ ...row, where: '' })),
    ...instant.map((row) => ({ ...row, where: ', instant upstream' })),
  ];
  return table(
    ['commands', 'at once', 'a second', 'p50 ms', 'p99 ms', 'CPU µs'],
    lines.map((row) => [
      nameOf(row) + row.where + trouble(row),
      String(row.connections),
      shown(row.commandsPerSecond, count),
      shown(row.p50Ms, short),
      short(row.p99Ms.median),
      row.cpuUsPerCommand ? short(row.cpuUsPerCommand.median) : '',
    ]),
  );
}

export function tokensTable({ keptTokens, rows }: TokensTable): string {
  return table(
    ['credentials sent in turn', 'reads a second', 'p50 ms', 'p99 ms', 'CPU µs a read'],
    rows.map((row) => [
      credentials(row.tokens, keptTokens) + trouble(row),
      range(row.requestsPerSecond, count),
      short(row.p50Ms.median),
      short(row.p99Ms.median),
      short(row.cpuUsPerRequest.median),
    ]),
  );
}

function credentials(tokens: number, kept: number): string {
  if (tokens === 0) return 'one API key';
  if (tokens === 1) return 'one read token';
  const isOver = tokens > 2 * kept ? ', more than the cache holds' : '';
  return `${count(tokens)} read tokens${isOver}`;
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

/** Without a row if the machine cannot make the network. */
export function outageTable({ readers, outageMs, rows, missing }: OutageTable): string {
  const head = [
    `${count(readers)} readers, ${count(outageMs)} ms without network`,
    'median reader live again, ms',
    'all live again, ms',
    'incomplete readers',
  ];
  const lines = rows.map((row) => [
    `${nameOf(row)}, ${row.live === 'sse' ? 'event stream' : 'long-poll'}` + trouble(row),
    range(row.medianMs, count),
    range(row.lastMs, count),
    count(row.incompleteReaders),
  ]);
  return ((lines.length > 0 ? table(head, lines) : '') + leftOut(missing)).trim();
}
