import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parseApiKeys } from '../platform/config/secret-lists.ts';
import type { GatewayError } from '../platform/errors/gateway-error.ts';
import type { OpenRequests } from '../platform/server/open-requests.ts';
import type { RequestContext } from '../platform/server/request-context.ts';
import { ApiKeys } from './api-keys.ts';
import { credentialDigest } from './bearer.ts';
import type { CredentialFiles } from './credential-files.ts';
import type { ReadTokenVerifier } from './read-token-verifier.ts';
import { openedByKey } from './request-access.ts';
import { WithdrawnCredentials } from './withdrawn-credentials.ts';

const KEY = 'a-key-of-some-length';
const OTHER = 'another-key-of-some-length';

describe('WithdrawnCredentials', () => {
  const list = { entries: parseApiKeys(`${KEY},${OTHER}`, 'variable').entries };
  const use = (keys: string) => void (list.entries = parseApiKeys(keys, 'variable').entries);
  const ended: (string | undefined)[] = [];
  let onRead: () => void;
  let withdrawn: WithdrawnCredentials;
  beforeEach(() => {
    jest.useFakeTimers();
    use(`${KEY},${OTHER}`);
    ended.length = 0;
    onRead = () => undefined;
    const read = {
      path: '/streams/x',
      kept: [],
      endRead: (error: GatewayError) => ended.push(error.code),
    } as unknown as RequestContext;
    openedByKey(read, credentialDigest(OTHER).toString('base64'), 'streams:read');
    withdrawn = new WithdrawnCredentials(
      new ApiKeys(list),
      { version: [] } as unknown as ReadTokenVerifier,
      { readAgain: async () => onRead() } as CredentialFiles,
      { reads: () => [read] } as unknown as OpenRequests,
    );
    withdrawn.onModuleInit();
  });
  afterEach(() => {
    withdrawn.onModuleDestroy();
    jest.useRealTimers();
  });

  it('ends the reads of a key that is no longer in its file', async () => {
    use(KEY);
    await jest.advanceTimersByTimeAsync(500);
    expect(ended).toEqual(['invalid_credentials']);
  });

  // A read of a file that was being written ended the reads of keys that came with its next bytes.
  it('reads the file again first, because its key may be back', async () => {
    use(KEY);
    onRead = () => use(`${KEY},${OTHER}`);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(ended).toEqual([]);
  });
});
