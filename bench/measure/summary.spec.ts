import { describe, expect, it } from '@jest/globals';
import { summaryOf } from './summary.ts';

describe('summaryOf', () => {
  it('has the spread of the named numbers alone', () => {
    const values = [1, 5, 3].map((ms) => ({ ms, us: 10 * ms, other: 0 }));
    expect(summaryOf({ values }, ['ms', 'us'])).toEqual({
      ms: { median: 3, min: 1, max: 5 },
      us: { median: 30, min: 10, max: 50 },
    });
  });

  it('says why a series has no more, and has no number of what was not measured', () => {
    const nothing = { median: Number.NaN, min: Number.NaN, max: Number.NaN };
    expect(summaryOf({ values: [], failure: 'it ended' }, ['ms'])).toEqual({
      ms: nothing,
      failure: 'it ended',
    });
    expect(summaryOf(undefined, ['ms'])).toEqual({ ms: nothing });
  });
});
