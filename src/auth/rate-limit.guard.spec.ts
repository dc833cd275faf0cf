import { describe, expect, it } from '@jest/globals';
import { executionContext, guardedRequest } from '../../test/support/execution-context.ts';
import { RateLimit } from '../platform/limits/rate-limit.ts';
import { RateLimitGuard } from './rate-limit.guard.ts';
import { setAccess } from './request-access.ts';

describe('RateLimitGuard', () => {
  let nowMs = 0;
  function guardOf(perSecond: number) {
    const guard = new RateLimitGuard(new RateLimit(perSecond, () => nowMs));
    return (credentialId?: string) => {
      const { request, context } = guardedRequest('GET', '/streams/x');
      if (credentialId) setAccess(context, { credentialId });
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
