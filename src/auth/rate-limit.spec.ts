import { describe, expect, it } from '@jest/globals';
import { RateLimit } from './rate-limit.ts';

describe('RateLimit', () => {
  it('lets a burst of one second through, then one request an interval', () => {
    let nowMs = 5_000;
    const limit = new RateLimit(10, () => nowMs);
    for (let i = 0; i < 10; i++) expect(limit.take('a')).toBe(0);
    expect(limit.take('a')).toBeCloseTo(100);
    nowMs += 99;
    expect(limit.take('a')).toBeCloseTo(1);
    nowMs += 1;
    expect(limit.take('a')).toBe(0);
    expect(limit.take('a')).toBeCloseTo(100);
  });

  it('lets exactly its rate through over a long time, whatever more is asked', () => {
    let nowMs = 0;
    const limit = new RateLimit(7, () => nowMs);
    let passed = 0;
    for (; nowMs < 10_000; nowMs += 3) if (limit.take('a') === 0) passed++;
    // The burst of the first second, and ten seconds of the rate.
    expect(passed).toBe(7 + 69);
  });

  it('does not let one credential use up what is another one’s', () => {
    const limit = new RateLimit(1, () => 0);
    expect(limit.take('a')).toBe(0);
    expect(limit.take('a')).toBeGreaterThan(0);
    expect(limit.take('b')).toBe(0);
  });
});
