import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { parseApiKeys } from '../contract/secret-lists.ts';
import { ApiKeys } from './api-keys.ts';
import { credentialDigest } from './bearer.ts';

const OLD = 'old-key-0123456789';
const NEW = 'new-key-0123456789';
const HASHED = 'hashed-key-0123456789';
const HASH = `sha256:${createHash('sha256').update(HASHED).digest('hex').toUpperCase()}`;

function apiKeys(list: string): ApiKeys {
  const { entries } = parseApiKeys(list, 'variable');
  return new ApiKeys({ entries, version: 0 });
}

describe('ApiKeys', () => {
  const keys = apiKeys(`${OLD}, ${NEW},${HASH}`);

  it.each([OLD, NEW, HASHED])('lets in %s, at whatever place of the list', (key) => {
    expect(keys.find(credentialDigest(key))).toBeDefined();
  });

  it.each([
    '',
    'x',
    OLD.slice(0, -1),
    `${OLD}x`,
    OLD.toUpperCase(),
    `${OLD}, ${NEW}`,
    HASH,
    HASH.toLowerCase(),
    HASH.slice('sha256:'.length),
  ])('keeps out %j', (credential) => {
    expect(keys.find(credentialDigest(credential))).toBeUndefined();
  });

  // In logs a key of which only the digest is known must be told as well, and it can have any length.
  it.each([`${OLD},${NEW}`, `${OLD},${HASH}`])('tells its keys among other texts: %s', (list) => {
    const some = apiKeys(list);
    const texts = [OLD, NEW, HASHED, `${OLD}x`, OLD.slice(0, -1), 'old-key-012345678x', ''];
    for (const text of texts) {
      expect([text, some.isCredential(text)]).toEqual([
        text,
        some.find(credentialDigest(text)) !== undefined,
      ]);
    }
    expect(some.isCredential(OLD)).toBe(true);
  });

  it('lets nobody in with an empty list', () => {
    expect(apiKeys('').find(credentialDigest(''))).toBeUndefined();
  });
});
