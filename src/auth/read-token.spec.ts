import { describe, expect, it } from '@jest/globals';
import { thrown } from '../../test/support/thrown.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { readTokenFromClaims } from './read-token.ts';

const NOW = 1_800_000_000;
const RULES = { tenant: 'acme', maxTtlSeconds: 3_600 };
const GOOD = { aud: 'acme', iat: NOW - 10, exp: NOW + 600, prefix: '/streams/t/acme' };

/** Claims as they come out of a token: what JSON cannot hold is not there. */
function judge(more: object | string): ReturnType<typeof readTokenFromClaims> {
  const json =
    typeof more === 'string'
      ? `${JSON.stringify(GOOD).slice(0, -1)},${more}}`
      : JSON.stringify({ ...GOOD, ...more });
  return readTokenFromClaims(JSON.parse(json) as Record<string, unknown>, RULES, NOW);
}

function refusalOf(more: object | string): string | undefined {
  const error = thrown(GatewayError, () => judge(more));
  return error?.reason ?? error?.code;
}

describe('readTokenFromClaims', () => {
  it('reads a token', () => {
    expect(judge({ sub: 'alice', shape: { table: 'entities' } })).toEqual({
      scope: [['streams', 't', 'acme']],
      shape: { table: 'entities', where: undefined, params: undefined, columns: undefined },
      expiresAtSeconds: NOW + 600,
      subject: 'alice',
    });
  });

  it.each([
    ['an audience among others', { aud: ['other', 'acme'] }],
    ['16 prefixes', { prefix: Array.from({ length: 16 }, (_, i) => `/streams/${i}`) }],
    ['prefixes of both kinds', { prefix: ['/streams', '/shapes/v1/shape'] }],
    ['the longest time to live', { iat: NOW, exp: NOW + 3_600 }],
    ['an iat 60 s ahead', { iat: NOW + 60 }],
    ['times with fractions', { iat: NOW - 0.5, exp: NOW + 0.5 }],
    ['an nbf of now', { nbf: NOW }],
    // One token of ten was refused: the clock that set nbf to now was 100 ms ahead.
    ['an nbf 60 s ahead', { nbf: NOW + 60 }],
    ['claims of others', { jti: 'x', iss: 'y', scope: 'z', admin: true }],
    ['no shape', { shape: undefined }],
  ])('accepts %s', (_, more) => {
    expect(() => judge(more)).not.toThrow();
  });

  it.each<[string, object | string]>([
    ['no exp', { exp: undefined }],
    ['an exp that is a string', { exp: String(NOW + 600) }],
    ['an exp of 1e400', '"exp":1e400'],
    ['an exp of -1e400', '"exp":-1e400'],
    ['a negative exp', { exp: -1 }],
    ['an exp of null', { exp: null }],
    ['an exp of true', { exp: true }],
    ['an exp that is an array', { exp: [NOW + 600] }],
    ['an exp that is an object', { exp: {} }],
    ['an exp in milliseconds', { exp: (NOW + 600) * 1000 }],
    ['the largest exp there is', { exp: Number.MAX_VALUE }],
    ['an exp one second over the longest time to live', { iat: NOW, exp: NOW + 3_601 }],
    ['no iat', { iat: undefined }],
    ['an iat that is a string', { iat: String(NOW) }],
    ['a negative iat', { iat: -1 }],
    ['an iat of 1e400', '"iat":1e400'],
    ['an iat of null', { iat: null }],
    ['an iat in milliseconds', { iat: NOW * 1_000 }],
    ['an iat of long ago for a long life', { iat: 0 }],
    ['an nbf in milliseconds', { nbf: NOW * 1_000 }],
    ['an nbf that is a string', { nbf: String(NOW) }],
    ['an nbf of null', { nbf: null }],
    ['a negative nbf', { nbf: -1 }],
    ['no aud', { aud: undefined }],
    ['another aud', { aud: 'acme2' }],
    ['an aud in other case', { aud: 'ACME' }],
    ['an empty aud', { aud: '' }],
    ['an empty array as aud', { aud: [] }],
    ['an aud array without the tenant', { aud: ['x', 'y'] }],
    ['an aud array with something else in it', { aud: ['acme', 1] }],
    ['a nested aud array', { aud: [['acme']] }],
    ['an aud that is an object', { aud: { acme: 'acme' } }],
    ['no prefix', { prefix: undefined }],
    ['an empty prefix', { prefix: '' }],
    ['the prefix /', { prefix: '/' }],
    ['a prefix of another route', { prefix: '/api' }],
    ['a prefix that only begins so', { prefix: '/streamsx' }],
    ['a prefix without a slash', { prefix: 'streams/t' }],
    ['a prefix with dot segments', { prefix: '/streams/../api' }],
    ['a prefix that is an object', { prefix: { 0: '/streams', length: 1 } }],
    ['a prefix that is a number', { prefix: 1 }],
    ['a prefix of null', { prefix: null }],
    ['no entry in prefix', { prefix: [] }],
    ['17 prefixes', { prefix: Array.from({ length: 17 }, (_, i) => `/streams/${i}`) }],
    ['17 times the same prefix', { prefix: Array.from({ length: 17 }, () => '/streams') }],
    ['one bad prefix among good ones', { prefix: ['/streams', '/api'] }],
    ['something else among prefixes', { prefix: ['/streams', 1] }],
    ['a nested prefix array', { prefix: [['/streams']] }],
    ['a sub that is a number', { sub: 1 }],
    ['a sub of null', { sub: null }],
    ['a shape of null', { shape: null }],
    ['a shape that is a string', { shape: 'entities' }],
    ['a shape with an unknown member', { shape: { table: 'entities', limit: 1 } }],
    // JSON.parse makes an own property of it, which reaches no prototype.
    ['no prefix but one by __proto__', '"prefix":0,"__proto__":{"prefix":"/streams"}'],
  ])('refuses %s', (_, more) => {
    expect(refusalOf(more)).toBe('claims');
  });

  it.each([
    ['in this very second', NOW],
    ['by a fraction of a second', NOW - 0.001],
    ['before it was issued', NOW - 100],
    ['in 1970', 0],
  ])('says of a token that ended %s that it has expired', (_, exp) => {
    expect(refusalOf({ exp })).toBe('token_expired');
  });

  // The clock of a back end was 90 s off: every read got 401, and no word of a clock.
  it('tells a clock from an old token', () => {
    const claims = (claim: 'iat' | 'nbf') => () => judge({ [claim]: NOW + 95 });
    for (const claim of ['iat', 'nbf'] as const) {
      expect(refusalOf({ [claim]: NOW + 61 })).toBe('not_yet_valid');
      expect(claims(claim)).toThrow(
        `The read token is not valid yet: ${claim} is 95 s in the future. ` +
          'Check the clock of the machine that made the token.',
      );
    }
    expect(() => judge({ exp: NOW - 90 })).toThrow('The read token expired 90 s ago');
  });

  it('says so only of a token that is good in all else', () => {
    expect(refusalOf({ exp: NOW - 1, prefix: '/api' })).toBe('claims');
    expect(refusalOf({ exp: NOW - 1, aud: 'other' })).toBe('claims');
    expect(refusalOf({ exp: NOW - 1, nbf: NOW + 61 })).toBe('not_yet_valid');
  });

  it('repeats no part of a token in what it says', () => {
    const secret = 'top-secret-value';
    for (const claim of ['aud', 'prefix', 'exp', 'iat', 'nbf', 'shape']) {
      expect(() => judge({ [claim]: secret })).not.toThrow(secret);
      expect(() => judge({ [claim]: secret })).toThrow(GatewayError);
    }
  });
});
