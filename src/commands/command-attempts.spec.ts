import { describe, expect, it } from '@jest/globals';
import { CommandAttempts, type AttemptsParts } from './command-attempts.ts';
import type { RuntimeAnswer } from './runtime-attempt.ts';

/** Too little time for a second attempt, so that the first answer is the one of the command. */
const BUDGET_MS = 60;

async function answerAfter(answer: RuntimeAnswer): Promise<RuntimeAnswer> {
  const parts = {
    outage: { isUnderWay: false, isStopped: false, isJustOver: false },
    budgetMs: BUDGET_MS,
  } as AttemptsParts;
  const command = { isRepeatable: true, clientHasGone: () => false };
  const begin = () => ({ answer: Promise.resolve(answer), cancel: () => undefined });
  return new CommandAttempts(parts, command, begin).answer();
}

describe('CommandAttempts', () => {
  // Thousands of commands that waited for a runtime behind a proxy held its pages, and no budget counted them.
  it('keeps little of an answer while it tries again', async () => {
    const headers = { 'transfer-encoding': 'chunked', 'x-page': 'x'.repeat(10_000) };
    const kept = { status: 503, headers: { 'transfer-encoding': 'chunked' } };
    const page = 'x'.repeat(1_025);
    expect(await answerAfter({ status: 503, headers, text: page })).toEqual({ ...kept, text: '' });
    const error = '{"message":"no"}';
    expect(await answerAfter({ status: 503, headers, text: error })).toEqual({
      ...kept,
      text: error,
    });
  });

  it('gives a final answer as it came', async () => {
    const answer = { status: 400, headers: { 'x-page': 'x' }, text: 'x'.repeat(10_000) };
    expect(await answerAfter(answer)).toBe(answer);
  });
});
