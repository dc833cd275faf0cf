import { describe, expect, it } from '@jest/globals';
import { runtimeAnswer } from '../../test/support/runtime-answer.ts';
import { upstreamsWith } from '../../test/support/upstreams.ts';
import { CommandAttempts, type AttemptsParts } from './command-attempts.ts';
import type { RuntimeAnswer } from './runtime-attempt.ts';

/** Too little time for a second attempt, so that the first answer is the one of the command. */
const BUDGET_MS = 60;

function failureOf(answer: RuntimeAnswer): Promise<unknown> {
  const parts = {
    outage: {
      underWay: undefined,
      isJustOver: false,
      refused: () => undefined,
      answered: () => undefined,
      sent: () => () => undefined,
    },
    budgetMs: BUDGET_MS,
  } as unknown as AttemptsParts;
  const command = {
    entity: 'e',
    isRepeatable: true,
    clientHasGone: () => false,
    upstream: upstreamsWith().runtimeIngress,
    api: 'restate' as const,
    method: 'POST',
    target: '/x',
  };
  const accepted = new CommandAttempts(parts, command, () => Promise.resolve(answer)).accepted();
  return accepted.catch((error: unknown) => error);
}

describe('CommandAttempts', () => {
  // Thousands of commands that waited for a runtime behind a proxy held its pages, and no budget counted them.
  it('keeps nothing of the page of a proxy, and its Retry-After', async () => {
    const failure = await failureOf(runtimeAnswer(503, ['retry-after', '7'], 'page'.repeat(1_000)));
    expect(failure).toMatchObject({
      code: 'upstream_invalid_response',
      headers: { 'Retry-After': '7' },
      cause: new Error('what stands before the runtime answered 503'),
    });
    expect(JSON.stringify(failure)).not.toContain('page');
  });

  it('fails with what a final answer says', async () => {
    const answer = runtimeAnswer(
      400,
      ['x-restate-error-source', 'x'],
      '{"message":"no such field"}',
    );
    expect(await failureOf(answer)).toMatchObject({
      code: 'runtime_rejected',
      message: 'The runtime rejected the command: no such field',
    });
  });
});
