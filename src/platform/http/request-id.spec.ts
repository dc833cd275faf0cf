import { describe, expect, it } from '@jest/globals';
import { decodeTime, isValid } from 'ulid';
import { freshUlid } from './request-id.ts';

describe('freshUlid', () => {
  it('is what the package takes for one, with the time of now', () => {
    const beforeMs = Date.now();
    const ulid = freshUlid();
    expect(isValid(ulid)).toBe(true);
    expect(decodeTime(ulid)).toBeGreaterThanOrEqual(beforeMs);
    expect(decodeTime(ulid)).toBeLessThanOrEqual(Date.now());
  });

  it('is another one each time, and random in every place', () => {
    const ulids = Array.from({ length: 20_000 }, freshUlid);
    expect(new Set(ulids).size).toBe(ulids.length);
    for (let at = 10; at < 26; at++) {
      expect(new Set(ulids.map((ulid) => ulid[at])).size).toBe(32);
    }
  });
});
