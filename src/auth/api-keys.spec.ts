import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { parseApiKeys } from '../config/secret-lists.ts';
import { ApiKeys } from './api-keys.ts';
import { credentialDigest } from './bearer.ts';

const OLD = 'old-key-0123456789';
const NEW = 'new-key-0123456789';
const HASHED = 'hashed-key-0123456789';
const HASH = `sha256:${createHash('sha256').update(HASHED).digest('hex').toUpperCase()}`;

function apiKeys(list: string): ApiKeys {
  const { entries } = parseApiKeys(list, 'variable');
  return new ApiKeys({ entries });
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

  it('lets nobody in with an empty list', () => {
    expect(apiKeys('').find(credentialDigest(''))).toBeUndefined();
  });
});
