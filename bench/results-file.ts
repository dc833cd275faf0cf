import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { goals } from './report/goals.ts';
import type { Measurements, Results } from './results.ts';

/** JSON has no NaN, and the statistics of no values are NaN. */
const STATISTICS = new Set(['median', 'min', 'max']);

/** The whole run with what the run before it measured, if that was a whole one of the same commit. */
export function withRunBefore(run: Results, before: Results | undefined): Results {
  if (before?.commit !== run.commit || before.added) return run;
  const measured = goals(before.measurements).map((goal) => [goal.what, goal.measured]);
  return { ...run, before: { takenAt: before.takenAt, goals: Object.fromEntries(measured) } };
}

/** The whole run with the parts of a later run in part, which are said to be that run's. */
export function withParts(whole: Results, part: Results): Results {
  const { takenAt, commit } = part;
  const names = Object.keys(part.measurements) as (keyof Measurements)[];
  const added = Object.fromEntries(names.map((name) => [name, { takenAt, commit }]));
  return {
    ...whole,
    measurements: { ...whole.measurements, ...part.measurements },
    added: { ...whole.added, ...added },
    before: undefined,
  };
}

export async function readResults(path: string): Promise<Results> {
  return JSON.parse(await readFile(path, 'utf8'), (name, value: unknown) =>
    value === null && STATISTICS.has(name) ? Number.NaN : value,
  ) as Results;
}

export async function writeResults(path: string, results: Results): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // More digits would only make the difference between two runs longer to read.
  const text = JSON.stringify(
    results,
    (_, value: unknown) =>
      typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value,
    2,
  );
  await writeFile(path, `${text}\n`);
}
