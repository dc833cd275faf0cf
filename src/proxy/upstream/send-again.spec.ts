import { describe, expect, it } from '@jest/globals';
import { isIdempotent, maySendAgain, type Reached } from './send-again.ts';

describe('isIdempotent', () => {
  it.each(['GET', 'HEAD', 'PUT', 'DELETE'])('holds for %s', (method) => {
    expect(isIdempotent(method)).toBe(true);
  });

  it.each(['POST', 'PATCH', 'get', undefined])('does not hold for %s', (method) => {
    expect(isIdempotent(method)).toBe(false);
  });
});

describe('maySendAgain', () => {
  it.each([true, false])('allows it while nothing was sent (repeatable: %s)', (isRepeatable) => {
    expect(maySendAgain({ reached: 'nowhere', isRepeatable })).toBe(true);
  });

  it.each<[Reached, boolean, boolean]>([
    ['sent', false, true],
    ['sent', true, true],
    // It was cut, or a proxy's, and may be another one next time.
    ['answered', true, true],
    ['answered', false, false],
  ])('of a repeatable request that was %s (may pass: %s) says %s', (reached, mayPass, may) => {
    expect(maySendAgain({ reached, mayPass, isRepeatable: true })).toBe(may);
  });

  it.each<Reached>(['sent', 'answered'])('never allows another request that was %s', (reached) => {
    for (const mayPass of [true, false]) {
      expect(maySendAgain({ reached, mayPass, isRepeatable: false })).toBe(false);
    }
  });
});
