import { describe, expect, it } from '@jest/globals';
import { SubjectRate } from './subject-rate.ts';

/** A rate whose clock the test sets. */
function rateOf(perMinute: number) {
  const clock = { nowMs: 0 };
  const rate = new SubjectRate(perMinute, () => clock.nowMs);
  const tries = (subject: string, count: number): number => {
    let spent = 0;
    for (let index = 0; index < count; index++) {
      try {
        rate.spend(subject);
        spent += 1;
      } catch {
        // Counted by its absence.
      }
    }
    return spent;
  };
  return { clock, rate, tries };
}

describe('the rate of a user', () => {
  it('refills evenly, to the whole budget and no further', () => {
    const { clock, tries } = rateOf(60);
    expect(tries('ada', 100)).toBe(60);
    clock.nowMs += 2_500;
    expect(tries('ada', 100)).toBe(2);
    clock.nowMs += 500;
    expect(tries('ada', 100)).toBe(1);
    clock.nowMs += 3_600_000;
    expect(tries('ada', 100)).toBe(60);
  });

  it('says when to come again', () => {
    const { rate, tries } = rateOf(2);
    tries('ada', 2);
    const refused = { status: 429, code: 'rate_limited', retryAfterSeconds: 30 };
    expect(() => rate.spend('ada')).toThrow(expect.objectContaining(refused));
  });

  // Each user who ever came would stay in memory.
  it('forgets whoever has the whole budget again', () => {
    const { clock, rate } = rateOf(2);
    for (let user = 0; user < 10_000; user++) {
      clock.nowMs += 60;
      rate.spend(`user-${user}`);
    }
    expect(rate.size).toBeLessThanOrEqual(1_000);
    clock.nowMs += 60_000;
    rate.spend('last');
    expect(rate.size).toBe(1);
  });
});
