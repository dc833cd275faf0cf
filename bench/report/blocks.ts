import type { Measurements, Results } from '../results.ts';
import { copiesTables } from './copies-tables.ts';
import { fanOutSummary, fanOutTables } from './fan-out-tables.ts';
import { leftOut, mebibytes, table } from './format.ts';
import { goals } from './goals.ts';
import {
  commandsSummary,
  commandsTable,
  largeBodyTable,
  outageTable,
  parkedSummary,
  parkedTable,
  startTable,
  stepsTable,
  tokensTable,
} from './other-tables.ts';
import { plainSummary, readsTables } from './reads-tables.ts';
import { coreDelivers, sizing } from './sizing.ts';

/** The blocks of the page by name. Each block is a table that answers one question. */
export function blocks(results: Results): Map<string, string> {
  const { measurements } = results;
  const { plain, memory, commands } = measurements;
  const fanOut = measurements['fan-out'];
  return new Map(
    Object.entries({
      goals: missedGoals(results),
      machine: machine(results, ['Taken', 'Processor', 'Memory', 'Repeated']),
      plain: plain && plainSummary(plain),
      'fan-out': fanOut && fanOutSummary(fanOut),
      memory: memory && parkedSummary(memory),
      commands: commands && commandsSummary(commands),
      sizing: sizing(measurements),
      cores: coreDelivers(measurements),
    }).map(([name, block]) => [name, block ?? '_Not measured in this run._']),
  );
}

/** Every table of every part, for readers who want more than the page shows. */
export function allTables(results: Results): string {
  const { measurements } = results;
  const parts = (Object.keys(measurements) as (keyof Measurements)[]).flatMap((part) =>
    partBlocks(part, measurements),
  );
  const sections = [['Machine', machine(results)], ['Goals', goalsTable(results)], ...parts];
  return [
    '# All measurements of the last run',
    '`npm run bench` writes this file. [Performance](../../docs/performance.md) says what the numbers mean.',
    ...sections.map(([name, block]) => `## ${name}\n\n${block}`),
  ].join('\n\n');
}

/** The tables of one part. */
export function partBlocks(
  part: keyof Measurements,
  measured: Partial<Measurements>,
): [name: string, block: string][] {
  const { plain, tokens, copies, memory, commands, start, outage } = measured;
  if (part === 'plain' && plain) {
    return [
      ['Plain reads, Node upstream', readsTables(plain.node)],
      ['Plain reads, nginx upstream', readsTables(plain.nginx)],
    ];
  }
  if (part === 'tokens' && tokens) return [['Read tokens', tokensTable(tokens)]];
  const sameUrl = measured['same-url'];
  if (part === 'same-url' && sameUrl) {
    return [
      ['One URL, Node upstream', readsTables(sameUrl.node)],
      ['One URL, nginx upstream', readsTables(sameUrl.nginx)],
      ['One URL, real store', readsTables(sameUrl.store)],
    ];
  }
  if (part === 'copies' && copies) return [['Copies on two cores', copiesTables(copies)]];
  const fanOut = measured['fan-out'];
  if (part === 'fan-out' && fanOut) return [['Fan-out', fanOutTables(fanOut)]];
  if (part === 'memory' && memory) {
    return [['Memory', `${parkedTable(memory)}\n\n${stepsTable(memory)}`]];
  }
  const largeBody = measured['large-body'];
  if (part === 'large-body' && largeBody) return [['A large body', largeBodyTable(largeBody)]];
  if (part === 'commands' && commands) return [['Commands', commandsTable(commands)]];
  if (part === 'start' && start) return [['Start', startTable(start)]];
  if (part === 'outage' && outage)
    return [['A network that drops everything', outageTable(outage)]];
  return [];
}

/** The goals that the gateway does not reach, and how many it reaches. */
function missedGoals({ measurements }: Results): string {
  const all = goals(measurements);
  const missed = all.filter(({ isReached }) => isReached !== true);
  const reached = `The gateway reaches ${all.length - missed.length} of ${all.length} goals`;
  if (missed.length === 0) return `${reached}.`;
  const rows = missed.map(({ what, asked, measured, duties }) => [what, asked, measured, duties]);
  const head = ['missed', 'asked', 'measured', 'with the duties'];
  return `${reached}. These are missed:\n\n${table(head, rows)}`;
}

/** Every goal, with what it was in the run before. */
export function goalsTable({
  measurements,
  before,
}: Pick<Results, 'measurements' | 'before'>): string {
  return table(
    [
      'What',
      'asked',
      'measured',
      '',
      ...(before ? ['the run before'] : []),
      'bare Node',
      'with the duties',
    ],
    goals(measurements).map(({ what, asked, measured, isReached, bare, duties }) => [
      what,
      asked,
      measured,
      verdict(isReached),
      ...(before ? [before.goals[what] ?? ''] : []),
      bare,
      duties,
    ]),
  );
}

function verdict(isReached: boolean | undefined): string {
  if (isReached === undefined) return 'not measured';
  return isReached ? 'reached' : '**missed**';
}

function machine(
  {
    takenAt,
    tookSeconds,
    commit,
    machine: on,
    rounds,
    seconds,
    events,
    added,
    before,
    failures,
  }: Results,
  shown?: readonly string[],
): string {
  const software = Object.entries(on.software).map(([name, version]) => `${name} ${version}`);
  const rows = [
    ['Taken', `${minute(takenAt)}, commit ${commit}, in ${Math.round(tookSeconds / 60)} minutes`],
    ...(before ? [['The run before', `${minute(before.takenAt)}, the same commit`]] : []),
    ...Object.entries(added ?? {}).map(([part, later]) => [
      `Later: ${part}`,
      `${minute(later.takenAt)}, commit ${later.commit}`,
    ]),
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
  const rowsShown = rows.filter(([name = '']) => shown?.includes(name) ?? true);
  return table(['', 'Where these numbers come from'], rowsShown) + leftOut(failed);
}

function minute(takenAt: string): string {
  return `${takenAt.slice(0, 16).replace('T', ' ')} UTC`;
}
