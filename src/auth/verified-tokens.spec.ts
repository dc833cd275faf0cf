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
    const tokens = new VerifiedTokens();
    const [secrets, keySet] = [[], {}];
    tokens.add('a', token('alice'), secrets, keySet);
    expect(tokens.get('a', secrets, keySet)).toEqual(token('alice'));
    expect(tokens.get('b', secrets, keySet)).toBeUndefined();
  });

  it.each(['secrets', 'key set'])(
    'forgets every token when the %s change, also if they change back',
    (what) => {
      const tokens = new VerifiedTokens();
      const [secrets, keySet] = [[], {}];
      tokens.add('a', token('alice'), secrets, keySet);
      const others: [unknown, unknown] = what === 'secrets' ? [[], keySet] : [secrets, {}];
      expect(tokens.get('a', ...others)).toBeUndefined();
      expect(tokens.get('a', secrets, keySet)).toBeUndefined();
    },
  );

  it('lets the oldest go beyond ten thousand', () => {
    const tokens = new VerifiedTokens();
    for (let n = 0; n <= 10_000; n++) tokens.add(String(n), token(String(n)), 1, 1);
    expect(tokens.get('0', 1, 1)).toBeUndefined();
    expect(tokens.get('1', 1, 1)).toEqual(token('1'));
    expect(tokens.get('10000', 1, 1)).toEqual(token('10000'));
  });
});
