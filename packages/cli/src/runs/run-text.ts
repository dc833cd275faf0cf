import type { Run, RunStep, Usage } from '../../../client/src/index.ts';
import { inColumns } from '../output/columns.ts';
import { localTime } from '../output/local-time.ts';
import { plainLine } from '../output/plain-text.ts';
import { joined, type Format, type Styled } from '../output/styled.ts';

const HEADING = ['BEGAN', 'AGENT', 'END', 'TOOK', 'TRIES', 'STEPS', 'USAGE', 'MESSAGE'];
const END = HEADING.indexOf('END');
const LONGEST_MESSAGE = 40;
const MINUTE_MS = 60_000;
const STATE_FORMATS = new Map<string, Format>(
  Object.entries({
    done: 'green',
    failed: 'red',
    failing: 'red',
    refused: 'red',
    stopped: 'yellow',
    asking: 'magenta',
    writing: 'cyan',
  }),
);

/** The runs as a table with a heading, with the steps of each below it if they are wanted. */
export function runsText(runs: readonly Run[], hasSteps: boolean, width?: number): Styled {
  const table = (shown: readonly Run[]): Styled =>
    inColumns([HEADING, ...shown.map(cellsOf)], formatOf, width);
  if (!hasSteps) return table(runs);
  const blocks = runs.map((run) => joined([table([run]), stepsText(run)]));
  return joined(blocks, '\n');
}

/** Why a run ended badly, such as `assistant/ada failed: no model`. */
export function endInWords({ agent, state, error, detail, nextTryAt }: Run): string | undefined {
  const [reason = ''] = (detail ?? error ?? '').split('\n');
  if (reason === '') return undefined;
  const next = nextTryAt === undefined ? '' : ` Next try ${localTime(nextTryAt) ?? nextTryAt}.`;
  return plainLine(`${agent} ${state}: ${reason.replace(/\.$/, '')}.${next}`);
}

function formatOf(cell: string, row: number, column: number): Format | undefined {
  if (row === 0) return 'bold';
  return column === END ? STATE_FORMATS.get(cell) : undefined;
}

function cellsOf(run: Run): string[] {
  const { agent, state, beganAt, askedAt, durationMs, attempts, steps, usage, message } = run;
  const began = beganAt ?? askedAt;
  const isCut = message.length > LONGEST_MESSAGE;
  return [
    localTime(began) ?? began ?? '–',
    agent,
    state,
    durationMs === undefined ? '–' : durationInWords(durationMs),
    String(attempts),
    stepsInWords(steps),
    usageInWords(usage),
    isCut ? `${message.slice(0, LONGEST_MESSAGE - 1)}…` : message,
  ];
}

/** Such as `model 2, pay 1`. */
function stepsInWords(steps: readonly RunStep[]): string {
  const counts = new Map<string, number>();
  for (const { name } of steps) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ') || '–';
}

/** Such as `12 in, 30 out`. */
function usageInWords(usage: Usage | undefined): string {
  const { inputTokens, outputTokens, cost } = usage ?? {};
  const parts = [
    inputTokens === undefined ? [] : [`${inputTokens} in`],
    outputTokens === undefined ? [] : [`${outputTokens} out`],
    cost === undefined ? [] : [`cost ${cost}`],
  ].flat();
  return parts.join(', ') || '–';
}

function stepsText({ steps, beganAt, askedAt }: Run): Styled {
  const startMs = Date.parse(askedAt ?? beganAt ?? '');
  const rows = steps.map((step) => {
    const afterMs = Date.parse(step.beganAt ?? '') - startMs;
    const tookMs = Date.parse(step.endedAt ?? '') - Date.parse(step.beganAt ?? '');
    return [
      '',
      Number.isNaN(afterMs) ? '' : `+${durationInWords(afterMs)}`,
      Number.isNaN(tookMs) ? '…' : durationInWords(tookMs),
      step.kind === step.name ? step.kind : `${step.kind} ${step.name}`,
      step.attempt > 1 ? `${step.state} (try ${step.attempt})` : step.state,
      step.error ?? step.url ?? '',
    ];
  });
  return inColumns(rows);
}

/** Such as `0.4 s` or `2 min 5 s`. */
export function durationInWords(ms: number): string {
  if (ms < MINUTE_MS) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
