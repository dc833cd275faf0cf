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

  it('drops the least recently used token when it is full', () => {
    const tokens = new VerifiedTokens(3);
    for (const name of ['a', 'b', 'c']) tokens.add(name, token(name), 1, 1);
    tokens.get('a', 1, 1);
    tokens.add('d', token('d'), 1, 1);
    expect(tokens.get('b', 1, 1)).toBeUndefined();
    for (const name of ['a', 'c', 'd']) expect(tokens.get(name, 1, 1)).toEqual(token(name));
  });
});
