import { describe, expect, it } from '@jest/globals';
import { CommandAttempts, type AttemptsParts } from './command-attempts.ts';
import { RuntimeAnswer } from './runtime-attempt.ts';

/** Too little time for a second attempt, so that the first answer is the one of the command. */
const BUDGET_MS = 60;
const HEADERS = ['transfer-encoding', 'chunked', 'retry-after', '7', 'x-page', 'x'.repeat(10_000)];

async function outcomeOf(answer: RuntimeAnswer): Promise<RuntimeAnswer> {
  const parts = {
    outage: {
      isUnderWay: false,
      isStopped: false,
      isJustOver: false,
      refused: () => undefined,
      answered: () => undefined,
    },
    silence: { sent: () => () => undefined },
    budgetMs: BUDGET_MS,
    isRefusal: ({ status }: RuntimeAnswer) => status === 503,
  } as unknown as AttemptsParts;
  const command = { entity: 'e', isRepeatable: true, clientHasGone: () => false };
  return new CommandAttempts(parts, command, () => Promise.resolve(answer)).answer();
}

describe('CommandAttempts', () => {
  // Thousands of commands that waited for a runtime behind a proxy held its pages, and no budget counted them.
  it.each([
    ['x'.repeat(1_025), ''],
    ['{"message":"no"}', '{"message":"no"}'],
  ])('keeps little of an answer while it tries again: %#', async (text, kept) => {
    const outcome = await outcomeOf(new RuntimeAnswer(503, HEADERS, text));
    expect([outcome.status, outcome.headers, outcome.text]).toEqual([
      503,
      ['transfer-encoding', 'chunked', 'retry-after', '7'],
      kept,
    ]);
  });

  it('gives a final answer as it came', async () => {
    const answer = new RuntimeAnswer(400, HEADERS, 'x'.repeat(10_000));
    expect(await outcomeOf(answer)).toBe(answer);
  });
});
