import { describe, expect, it } from '@jest/globals';
import { quantile, spread } from './statistics.ts';

describe('statistics', () => {
  it('give the middle one of an odd number of values, whatever their order', () => {
    expect(spread([9, 1, 5])).toEqual({ median: 5, min: 1, max: 9 });
  });

  it('give the mean of the two middle ones of an even number', () => {
    expect(spread([4, 1, 2, 10])).toEqual({ median: 3, min: 1, max: 10 });
  });

  it('sort numbers as numbers', () => {
    expect(quantile([100, 20, 3], 0.5)).toBe(20);
  });

  it('go between the two nearest values', () => {
    const hundred = Array.from({ length: 101 }, (_, index) => index);
    expect(quantile(hundred, 0.99)).toBe(99);
    expect(quantile([0, 10], 0.25)).toBe(2.5);
  });

  it('give no number of no values', () => {
    expect(spread([])).toEqual({ median: Number.NaN, min: Number.NaN, max: Number.NaN });
  });
});
