import { describe, expect, it } from '@jest/globals';
import { ProbeSampling } from './probe-sampling.ts';

describe('ProbeSampling', () => {
  it('lets the first through, then one each interval, with how many it left out', () => {
    let nowMs = 0;
    const sampling = new ProbeSampling(1_000, () => nowMs);
    const at = (ms: number): number | undefined => {
      nowMs = ms;
      return sampling.take();
    };
    expect([0, 1, 500, 999, 1_000, 1_001, 5_000, 5_001].map(at)).toEqual([
      0,
      undefined,
      undefined,
      undefined,
      3,
      undefined,
      1,
      undefined,
    ]);
  });
});
