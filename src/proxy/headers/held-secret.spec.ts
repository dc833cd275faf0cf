import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asHeaderBytes, holdsSecret } from './held-secret.ts';

const holds = (value: string, secret: string): boolean => holdsSecret(value, asHeaderBytes(secret));

describe('holdsSecret', () => {
  it.each([
    ['s3cret', 's3cret'],
    ['a=1; key=s3cret, b', 's3cret'],
    ['<http://electric:3000/v1/shape?secret=s3cret>; rel="next"', 's3cret'],
    ['?secret=%73%33cret', 's3cret'],
    ['?next=%2Fv1%2Fshape%3Fsecret%3Ds3cret', 's3cret'],
    ['?secret=a%20b%26c', 'a b&c'],
    ['?secret=a+b%26c', 'a b&c'],
    ['?secret=a%2bb', 'a+b'],
    ['?secret=a+b%2bc', 'a b+c'],
    ['?next=%3Fsecret%3Da%2Bb%252Bc', 'a b+c'],
    ['?next=%3Fsecret%3Da%2520b%2526c', 'a b&c'],
    ['?secret=%c3%a4%E2%82%ac', 'ä€'],
    [Buffer.from('x-ä€').toString('latin1'), 'ä€'],
    ['?secret=100%25', '100%'],
    ['?secret=100%', '100%'],
  ])('finds in %j the secret %j', (value, secret) => {
    expect(holds(value, secret)).toBe(true);
  });

  it.each([
    ['', 's3cret'],
    ['s3cre', 's3cret'],
    ['S3CRET', 's3cret'],
    ['%zz%7', 's3cret'],
    ['"0_0+1"', 's3cret'],
  ])('finds none in %j', (value, secret) => {
    expect(holds(value, secret)).toBe(false);
  });

  it('finds any secret in any place, however it is encoded', () => {
    const encodings: ((text: string) => string)[] = [
      asHeaderBytes,
      encodeURIComponent,
      (text) => encodeURIComponent(encodeURIComponent(text)),
      (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
      (text) => new URLSearchParams({ secret: text }).toString(),
      (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&'),
    ];
    const piece = fc.oneof(fc.constantFrom('+', ' ', '%', '&', 'ä'), fc.string({ maxLength: 4 }));
    const secret = fc
      .array(piece, { minLength: 1, maxLength: 6 })
      .map((pieces) => pieces.join(''))
      .filter((text) => text !== '');
    // A sign at the border could make another code of the secret's own.
    const around = fc.stringMatching(/^[a-z=&? ]{0,8}$/);
    fc.assert(
      fc.property(secret, fc.constantFrom(...encodings), around, around, (text, encode, a, b) => {
        expect(holds(`${a}${encode(text)}${b}`, text)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});
