import { describe, expect, it } from '@jest/globals';
import { isIdempotent, isStale, maySendAgain, type Reached } from './send-again.ts';

describe('isIdempotent', () => {
  it.each(['GET', 'HEAD', 'PUT', 'DELETE'])('holds for %s', (method) => {
    expect(isIdempotent(method)).toBe(true);
  });

  it.each(['POST', 'PATCH', 'get', undefined])('does not hold for %s', (method) => {
    expect(isIdempotent(method)).toBe(false);
  });
});

describe('isStale', () => {
  it.each<[Reached, boolean, boolean]>([
    ['nowhere', true, true],
    ['sent', true, true],
    ['answered', true, false],
    ['nowhere', false, false],
    ['sent', false, false],
    ['answered', false, false],
  ])('of a request that reached %s over a connection kept: %s, is %s', (reached, kept, stale) => {
    expect(isStale(reached, kept)).toBe(stale);
  });
});

describe('maySendAgain', () => {
  it.each([true, false])('allows it while nothing was sent (repeatable: %s)', (isRepeatable) => {
    for (const isTimeout of [true, false]) {
      expect(maySendAgain({ reached: 'nowhere', isTimeout, isRepeatable })).toBe(true);
    }
  });

  it.each<[Reached, boolean, boolean]>([
    ['sent', false, true],
    ['sent', true, true],
    // It was slow, and may be quicker the next time.
    ['answered', true, true],
    ['answered', false, false],
  ])('of a repeatable request that reached %s (timeout: %s) says %s', (reached, isTimeout, may) => {
    expect(maySendAgain({ reached, isTimeout, isRepeatable: true })).toBe(may);
  });

  it.each<Reached>(['sent', 'answered'])('never allows another request that was %s', (reached) => {
    for (const isTimeout of [true, false]) {
      expect(maySendAgain({ reached, isTimeout, isRepeatable: false })).toBe(false);
    }
  });
});
