import type { Measurements, Results } from '../results.ts';
import { fanOutTables } from './fan-out-tables.ts';
import { leftOut, mebibytes, table } from './format.ts';
import { goals } from './goals.ts';
import { commandsTable, largeBodyTable, memoryTables, startTable } from './other-tables.ts';
import { readsTables } from './reads-tables.ts';
import { sizing } from './sizing.ts';

/** All that a page has to have a place for. */
const NAMES = [
  'goals',
  'machine',
  'plain-node',
  'plain-nginx',
  'same-url-node',
  'same-url-nginx',
  'same-url-store',
  'fan-out',
  'memory',
  'large-body',
  'commands',
  'start',
  'sizing',
];

/** The pieces of Markdown that come from measurements, by name. */
export function blocks(results: Results): Map<string, string> {
  const { measurements } = results;
  const all = new Map(NAMES.map((name) => [name, '_Not measured in this run._']));
  all.set('goals', goalsTable(measurements));
  all.set('machine', machine(results));
  const sizingText = sizing(measurements);
  if (sizingText !== undefined) all.set('sizing', sizingText);
  for (const part of Object.keys(measurements) as (keyof Measurements)[]) {
    for (const [name, block] of partBlocks(part, measurements)) all.set(name, block);
  }
  return all;
}

/** Of one part. */
export function partBlocks(
  part: keyof Measurements,
  measured: Partial<Measurements>,
): [name: string, block: string][] {
  const { plain, memory, commands, start } = measured;
  if (part === 'plain' && plain) {
    return [
      ['plain-node', readsTables(plain.node)],
      ['plain-nginx', readsTables(plain.nginx)],
    ];
  }
  const sameUrl = measured['same-url'];
  if (part === 'same-url' && sameUrl) {
    return [
      ['same-url-node', readsTables(sameUrl.node)],
      ['same-url-nginx', readsTables(sameUrl.nginx)],
      ['same-url-store', readsTables(sameUrl.store)],
    ];
  }
  const fanOut = measured['fan-out'];
  if (part === 'fan-out' && fanOut) return [['fan-out', fanOutTables(fanOut)]];
  if (part === 'memory' && memory) return [['memory', memoryTables(memory)]];
  const largeBody = measured['large-body'];
  if (part === 'large-body' && largeBody) return [['large-body', largeBodyTable(largeBody)]];
  if (part === 'commands' && commands) return [['commands', commandsTable(commands)]];
  if (part === 'start' && start) return [['start', startTable(start)]];
  return [];
}

export function goalsTable(measured: Partial<Measurements>): string {
  return table(
    ['What', 'asked', 'measured', ''],
    goals(measured).map(({ what, asked, measured: value, isReached }) => [
      what,
      asked,
      value,
      verdict(isReached),
    ]),
  );
}

function verdict(isReached: boolean | undefined): string {
  if (isReached === undefined) return 'not measured';
  return isReached ? 'reached' : '**missed**';
}

function machine({
  takenAt,
  tookSeconds,
  commit,
  machine: on,
  rounds,
  seconds,
  events,
  failures,
}: Results): string {
  const software = Object.entries(on.software).map(([name, version]) => `${name} ${version}`);
  const rows = [
    [
      'Taken',
      `${takenAt.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}, in ${Math.round(tookSeconds / 60)} minutes`,
    ],
    ['Processor', `${on.processor}, ${on.cores} cores for gateway, upstream and load together`],
    ['Memory', mebibytes(on.memoryBytes)],
    ['System', `${on.system}, ${on.descriptors} open files a process`],
    ['Load before', on.loadBefore.toFixed(2)],
    ['Software', software.join(', ')],
    [
      'Repeated',
      `${rounds} rounds of ${seconds} s, contenders in turn; fan-out ${events} events a round`,
    ],
  ];
  const failed = Object.entries(failures).map(([part, reason]) => `${part} failed (${reason})`);
  return table(['', 'Where these numbers come from'], rows) + leftOut(failed);
}
