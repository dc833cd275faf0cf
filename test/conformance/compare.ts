import type { ExpectedDifference } from './differences.ts';
import type { Outcomes, TestOutcome } from './suite-run.ts';

export interface Comparison {
  /** Tests that ran and have the outcomes that they have to have. */
  passed: number;
  /** Each failure in words: a test that does not pass through the gateway, or an expected difference that did not occur. */
  failures: string[];
}

const ABSENT: TestOutcome = { status: 'absent', reason: '' };

/**
 * Holds the suite's outcomes without the gateway and through it against what is expected: each test has to pass through
 * the gateway, or to have just the difference that is expected of it. A test skipped in both runs does not count. One that
 * fails only without the gateway is about the server: a busy machine makes its short times run out.
 */
export function compare(
  without: Outcomes,
  through: Outcomes,
  expected: readonly ExpectedDifference[],
): Comparison {
  const comparison: Comparison = { passed: 0, failures: [] };
  const names = new Set([
    ...without.keys(),
    ...through.keys(),
    ...expected.flatMap(({ test }) => (typeof test === 'string' ? [test] : [])),
  ]);
  const unseen = new Set(expected.filter(({ test }) => typeof test !== 'string'));
  for (const name of names) {
    const before = without.get(name) ?? ABSENT;
    const after = through.get(name) ?? ABSENT;
    const difference = expected.find(({ test }) =>
      typeof test === 'string' ? test === name : test.test(name) && after.status === 'failed',
    );
    if (difference) unseen.delete(difference);
    if (!difference && before.status === 'skipped' && after.status === 'skipped') continue;
    const isAsItHasToBe = difference
      ? before.status === difference.without && after.status === difference.through
      : after.status === 'passed';
    if (isAsItHasToBe) comparison.passed++;
    else comparison.failures.push(inWords(name, before, after, difference));
  }
  for (const { test, because } of unseen)
    comparison.failures.push(`${String(test)}: no test differs. ${because}`);
  return comparison;
}

function inWords(
  name: string,
  before: TestOutcome,
  after: TestOutcome,
  difference: ExpectedDifference | undefined,
): string {
  const what = difference
    ? `${name}\n    expected: ${difference.without} without the gateway, ${difference.through} through it`
    : name;
  return `${what}\n    without: ${describe(before)}\n    through: ${describe(after)}`;
}

function describe({ status, reason }: TestOutcome): string {
  return reason === '' ? status : `${status}: ${reason}`;
}
