import { describe, expect, it } from '@jest/globals';
import { isAsShown, isPartAsShown } from './expected-output.ts';

describe('isAsShown', () => {
  it.each([
    ['a', 'a b'],
    ['a', 'b a'],
    ['a…c', 'a b'],
    ['a.c', 'abc'],
    ['{"at":"2026-11-21T16:41:38.959Z"}', '{"at":"yesterday"}'],
    ['{"seq":0}', '{"seq":1}'],
  ])('does not take %j for %j', (shown, said) => {
    expect(isAsShown(shown, said)).toBe(false);
  });
});

describe('isPartAsShown', () => {
  it('looks for what is shown anywhere', () => {
    expect(isPartAsShown('b\nc…', 'a\nb\nc\nd')).toBe(true);
    expect(isPartAsShown('b\nd', 'a\nb\nc\nd')).toBe(false);
  });
});
