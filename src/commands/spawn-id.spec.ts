import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { decodeTime } from 'ulid';
import { entityIdProblem } from './entity-address.ts';
import { derivedId, freshId } from './spawn-id.ts';

/** A ULID's first character holds three bits. */
const LOWERCASE_ULID = /^[0-7][0-9abcdefghjkmnpqrstvwxyz]{25}$/;

describe('freshId', () => {
  it('is a lowercase ULID of now, which is a valid id', () => {
    const before = Date.now();
    const id = freshId();
    expect(id).toMatch(LOWERCASE_ULID);
    expect(entityIdProblem(id)).toBeUndefined();
    expect(decodeTime(id.toUpperCase())).toBeGreaterThanOrEqual(before);
    expect(freshId()).not.toBe(id);
  });
});

describe('derivedId', () => {
  it('is the first 128 bits of the SHA-256, as a lowercase ULID', () => {
    const id = derivedId('acme', 'chat', 'key-1');
    expect(id).toMatch(LOWERCASE_ULID);
    const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
    const bits = id.split('').reduce((sum, char) => sum * 32n + BigInt(alphabet.indexOf(char)), 0n);
    const digest = createHash('sha256').update('acme\nchat\nkey-1').digest('hex');
    expect(bits.toString(16).padStart(32, '0')).toBe(digest.slice(0, 32));
  });

  // A gateway of the version before must spawn the same entity for a repeated key.
  it('stays the same from version to version', () => {
    expect(derivedId('acme', 'chat', 'key-1')).toBe('14vx7am1f3094jm0r3wnq0ae60');
  });

  it('is always 26 characters with a first one of at most 7', () => {
    for (let i = 0; i < 500; i++) expect(derivedId('t', 'a', `k${i}`)).toMatch(LOWERCASE_ULID);
  });

  it('differs by tenant, by type and by key, also where their joined text would be the same', () => {
    const ids = [
      derivedId('a', 'b', 'c'),
      derivedId('ab', 'c', 'c'),
      derivedId('a', 'bc', 'c'),
      derivedId('a', 'b', 'cc'),
      derivedId('a', 'b', 'C'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});
