import { expect, it } from '@jest/globals';
import { pauseAfter } from './pace.ts';

// With 100,000 agents Restate had to look through all invocations every three seconds, for each open page.
it.each([
  [0, 0],
  [100, 400],
  [1_000, 4_000],
  [9_000, 30_000],
])('a question that took %d ms is asked again after %d ms at the earliest', (took, pause) => {
  expect(pauseAfter(took)).toBe(pause);
});
