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

  it('drops a token that was not used when it is full', () => {
    const tokens = new VerifiedTokens(3);
    for (const name of ['a', 'b', 'c']) tokens.add(name, token(name), 1, 1);
    tokens.get('a', 1, 1);
    tokens.add('d', token('d'), 1, 1);
    expect(tokens.get('b', 1, 1)).toBeUndefined();
    for (const name of ['a', 'c', 'd']) expect(tokens.get(name, 1, 1)).toEqual(token(name));
  });

  it('drops one although all were used, and never holds more than it may', () => {
    const tokens = new VerifiedTokens(2);
    for (let lap = 0; lap < 5; lap++) {
      for (const name of ['a', 'b', 'c']) {
        if (!tokens.get(name, 1, 1)) tokens.add(name, token(name), 1, 1);
        tokens.get(name, 1, 1);
        const held = ['a', 'b', 'c'].filter((each) => tokens.get(each, 1, 1));
        expect(held).toContain(name);
        expect(held.length).toBeLessThanOrEqual(2);
      }
    }
  });

  it('takes the same token twice without dropping another one', () => {
    const tokens = new VerifiedTokens(2);
    for (const name of ['a', 'b', 'b']) tokens.add(name, token(name), 1, 1);
    for (const name of ['a', 'b']) expect(tokens.get(name, 1, 1)).toEqual(token(name));
  });

  it('keeps nothing where it may hold nothing', () => {
    const tokens = new VerifiedTokens(0);
    tokens.add('a', token('a'), 1, 1);
    expect(tokens.get('a', 1, 1)).toBeUndefined();
  });
});
