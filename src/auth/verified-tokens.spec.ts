import { describe, expect, it } from '@jest/globals';
import type { ReadToken } from './read-token.ts';
import { VerifiedTokens } from './verified-tokens.ts';

const token = (subject: string): ReadToken => ({
  signedBy: 'secret:x',
  credentialId: subject,
  scope: [],
  shape: undefined,
  expiresAtSeconds: 1,
  subject,
});

describe('VerifiedTokens', () => {
  it('gives back a token while the keys are the very same', () => {
    const tokens = new VerifiedTokens(3);
    const [secrets, keySet] = [[], {}];
    tokens.add('a', token('alice'), secrets, keySet);
    expect(tokens.get('a', secrets, keySet)).toEqual(token('alice'));
    expect(tokens.get('b', secrets, keySet)).toBeUndefined();
  });

  it.each(['secrets', 'key set'])(
    'forgets every token when the %s change, also if they change back',
    (what) => {
      const tokens = new VerifiedTokens(3);
      const [secrets, keySet] = [[], {}];
      tokens.add('a', token('alice'), secrets, keySet);
      const others: [unknown, unknown] = what === 'secrets' ? [[], keySet] : [secrets, {}];
      expect(tokens.get('a', ...others)).toBeUndefined();
      expect(tokens.get('a', secrets, keySet)).toBeUndefined();
    },
  );

  it('keeps the tokens last used, and drops those that were not', () => {
    const tokens = new VerifiedTokens(3);
    for (const name of ['a', 'b', 'c', 'd']) tokens.add(name, token(name), 1, 1);
    tokens.get('a', 1, 1);
    for (const name of ['e', 'f']) tokens.add(name, token(name), 1, 1);
    for (const name of ['b', 'c']) expect(tokens.get(name, 1, 1)).toBeUndefined();
    for (const name of ['a', 'e', 'f']) expect(tokens.get(name, 1, 1)).toEqual(token(name));
  });

  it('verifies each of as many as it may hold once, whatever it held before', () => {
    const tokens = new VerifiedTokens(10);
    const missesOf = (names: readonly string[]): number => {
      const missed = names.filter((name) => !tokens.get(name, 1, 1));
      for (const name of missed) tokens.add(name, token(name), 1, 1);
      return missed.length;
    };
    const former = Array.from({ length: 7 }, (_, n) => `former-${n}`);
    const current = Array.from({ length: 10 }, (_, n) => `current-${n}`);
    for (let lap = 0; lap < 3; lap++) missesOf(former);
    const misses = [1, 2, 3].map(() => current.reduce((sum, name) => sum + missesOf([name]), 0));
    expect(misses).toEqual([10, 0, 0]);
  });

  it('never holds more than twice what it must', () => {
    const tokens = new VerifiedTokens(5);
    const names = Array.from({ length: 100 }, (_, n) => `reader-${n}`);
    for (const name of names) tokens.add(name, token(name), 1, 1);
    expect(names.filter((name) => tokens.get(name, 1, 1)).length).toBeLessThanOrEqual(10);
  });

  it('takes the same token twice without dropping another one', () => {
    const tokens = new VerifiedTokens(2);
    for (const name of ['a', 'b', 'b', 'b']) tokens.add(name, token(name), 1, 1);
    for (const name of ['a', 'b']) expect(tokens.get(name, 1, 1)).toEqual(token(name));
  });

  it('forgets a deleted token, however long ago it was used', () => {
    const tokens = new VerifiedTokens(1);
    for (const name of ['a', 'b']) tokens.add(name, token(name), 1, 1);
    for (const name of ['a', 'b']) {
      tokens.delete(name);
      expect(tokens.get(name, 1, 1)).toBeUndefined();
    }
  });

  it('keeps nothing where it may hold nothing', () => {
    const tokens = new VerifiedTokens(0);
    tokens.add('a', token('a'), 1, 1);
    expect(tokens.get('a', 1, 1)).toBeUndefined();
  });
});
