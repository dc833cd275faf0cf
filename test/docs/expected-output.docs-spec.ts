import { describe, expect, it } from '@jest/globals';
import { isAsShown, isPartAsShown } from './expected-output.ts';

describe('isAsShown', () => {
  it.each([
    ['a\nb', 'a\nb\n'],
    ['a…c', 'a b\nb c'],
    ['…', ''],
    ['{"at":"2026-11-21T16:41:38.959Z"}', '{"at":"2027-01-02T03:04:05.006Z"}'],
    ['01M7ZFRACNYGV6HE4RRB378055', '01K7ZFRACNYGV6HE4RRB37805A'],
    ['inv_1 0000000000000000_0000000000000616', 'inv_2 0000000000000001_0000000000000099'],
    ['eyJh.b.c', 'eyJx.y.z'],
  ])('takes %j for %j', (shown, said) => {
    expect(isAsShown(shown, said)).toBe(true);
  });

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
