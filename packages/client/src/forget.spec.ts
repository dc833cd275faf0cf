import { expect, it } from '@jest/globals';
import { forgetAgent } from './forget.ts';
import type { Invocation, Invocations } from './invocations.ts';

const MARK = {
  agent: '/t/default/a/writer/w1',
  at: '2026-11-28T00:00:00.000Z',
  timeline: 'deleted',
  row: 'deleted',
  children: [],
};

/** What Restate keeps of one agent, in pages, with some that it does not delete. */
function restateWith(count: number, isKept: (id: string) => boolean = () => false) {
  const left = Array.from({ length: count }, (_, index) => `inv_${index}`);
  const invocations = {
    list: ({ isEnded = false, limit = 100 }) =>
      Promise.resolve(isEnded ? left.slice(0, limit).map((id) => ({ id }) as Invocation) : []),
    stateOf: () => Promise.resolve(JSON.stringify({ forgotten: MARK })),
    purge: (id: string) => {
      if (isKept(id)) return Promise.reject(new Error('no'));
      left.splice(left.indexOf(id), 1);
      return Promise.resolve();
    },
  } as unknown as Invocations;
  return { left, invocations };
}

// The first thousand were deleted, and the receipt said that nothing remained.
it('deletes all that Restate keeps of an agent, however many they are', async () => {
  const { left, invocations } = restateWith(2_345);
  const receipt = await forgetAgent('writer/w1', invocations, () => Promise.resolve(), {});
  expect(receipt).toEqual({ ...MARK, invocations: 2_345, remaining: [] });
  expect(left).toEqual([]);
});

it('says which could not be deleted, and comes to its end', async () => {
  const { invocations } = restateWith(1_500, (id) => id.endsWith('7'));
  const receipt = await forgetAgent('writer/w1', invocations, () => Promise.resolve(), {});
  expect(receipt.invocations).toBe(1_350);
  expect(receipt.remaining).toHaveLength(150);
});
