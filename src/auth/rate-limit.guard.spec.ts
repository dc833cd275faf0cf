import { describe, expect, it } from '@jest/globals';
import { executionContext, guardedRequest } from '../../test/support/execution-context.ts';
import { RateLimitGuard } from './rate-limit.guard.ts';

describe('RateLimitGuard', () => {
  let nowMs = 0;
  function guardOf(perSecond: number) {
    const guard = new RateLimitGuard(perSecond, () => nowMs);
    return (id?: string, isSubject = false) => {
      const { request, context } = guardedRequest('GET', '/streams/x');
      if (id !== undefined) context.caller = { id, isSubject };
      return guard.canActivate(executionContext(request));
    };
  }

  it('refuses a credential beyond its rate, and no other', () => {
    const ask = guardOf(2);
    expect([ask('a'), ask('a'), ask('b')]).toEqual([true, true, true]);
    expect(() => ask('a')).toThrow(
      expect.objectContaining({
        code: 'rate_limited',
        reason: 'requests_per_second',
        headers: { 'Retry-After': '1' },
      }),
    );
    expect(ask('b')).toBe(true);
    nowMs += 500;
    expect(ask('a')).toBe(true);
  });

  it('says who it is that asks too often: a credential, or a subject of read tokens', () => {
    const ask = guardOf(1);
    ask('a');
    expect(() => ask('a')).toThrow(
      'Too many requests with this credential; wait as long as Retry-After says.',
    );
    ask('s', true);
    expect(() => ask('s', true)).toThrow(
      'Too many requests of the subject of this read token; wait as long as Retry-After says.',
    );
  });

  it('says for how many whole seconds to wait, one at least', () => {
    const ask = guardOf(0.4);
    ask('a');
    nowMs += 100;
    expect(() => ask('a')).toThrow(expect.objectContaining({ headers: { 'Retry-After': '3' } }));
    nowMs += 2_399.9;
    expect(() => ask('a')).toThrow(expect.objectContaining({ headers: { 'Retry-After': '1' } }));
  });

  it('counts no request that no credential opened', () => {
    const ask = guardOf(1);
    expect([ask(), ask(), ask()]).toEqual([true, true, true]);
  });
});

describe('the rate of RateLimitGuard', () => {
  it('lets a burst of one second through, then one request an interval', () => {
    let nowMs = 5_000;
    const limit = new RateLimitGuard(10, () => nowMs);
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
    const limit = new RateLimitGuard(7, () => nowMs);
    let passed = 0;
    for (; nowMs < 10_000; nowMs += 3) if (limit.take('a') === 0) passed++;
    // The burst of the first second, and ten seconds of the rate.
    expect(passed).toBe(7 + 69);
  });

  it('does not let one credential use up what is another one’s', () => {
    const limit = new RateLimitGuard(1, () => 0);
    expect(limit.take('a')).toBe(0);
    expect(limit.take('a')).toBeGreaterThan(0);
    expect(limit.take('b')).toBe(0);
  });
});
