import { describe, expect, it } from '@jest/globals';
import { bodyMayFollow } from './idle-time.ts';

describe('bodyMayFollow', () => {
  const LENGTH = { 'content-length': '5' };
  const CHUNKED = { 'transfer-encoding': 'chunked' };
  it.each([
    ['GET', 200, LENGTH, false],
    ['GET', 200, {}, false],
    ['POST', 404, CHUNKED, false],
    ['HEAD', 200, {}, true],
    ['HEAD', 204, {}, true],
    ['HEAD', 404, LENGTH, true],
    ['GET', 204, {}, false],
    ['GET', 304, {}, false],
    ['PUT', 204, { 'content-length': '0' }, false],
    ['GET', 204, LENGTH, true],
    ['DELETE', 204, CHUNKED, true],
    ['GET', 304, LENGTH, true],
    ['GET', 304, CHUNKED, true],
    // Nobody knows what this one means.
    ['GET', 304, { 'content-length': '' }, true],
  ] as const)('of %s, %d, %j is %j', (method, status, headers, may) => {
    const header = (name: string): string | undefined =>
      Object.entries(headers).find(([own]) => own === name)?.[1];
    expect(bodyMayFollow(method, status, header)).toBe(may);
  });
});
