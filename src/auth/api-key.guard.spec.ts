import { Reflector } from '@nestjs/core';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { executionContext, guardedRequest } from '../../test/support/execution-context.ts';
import { parseApiKeys } from '../contract/secret-lists.ts';
import type { SecretFiles } from '../platform/config/secret-files.ts';
import { RequiredScope } from './access.decorator.ts';
import { ApiKeyGuard } from './api-key.guard.ts';
import { ApiKeys } from './api-keys.ts';
import { credentialDigest } from './bearer.ts';
import { accessOf } from './request-access.ts';
import { RouteRules } from './route-rules.ts';

const KEY = 'a-key-of-some-length';
const READER = 'another-key-of-some-length';
const UNKNOWN = 'no-key-but-of-some-length';

class Controller {
  @RequiredScope('commands')
  handle(): void {}

  noScope(): void {}
}

describe('ApiKeyGuard', () => {
  const list = { entries: [] as ReturnType<typeof parseApiKeys>['entries'] };
  const use = (keys: string) => void (list.entries = parseApiKeys(keys, 'variable').entries);
  let reads: number;
  let onRead: () => void;
  const files = {
    readAgain: async () => {
      reads++;
      await Promise.resolve();
      onRead();
    },
  } as SecretFiles;
  const guard = new ApiKeyGuard(new ApiKeys(list), files, new RouteRules(new Reflector()));

  beforeEach(() => {
    use(`${KEY} name=writer,${READER} name=reader scopes=streams:read`);
    reads = 0;
    onRead = () => undefined;
  });

  function ask(key: string, name: 'handle' | 'noScope' = 'handle') {
    const { request, context } = guardedRequest('POST', '/api/spawn', {
      authorization: `Bearer ${key}`,
    });
    const answer = () => guard.canActivate(executionContext(request, Controller, name));
    return { context, answer };
  }

  it('lets a key in at once, and notes whose it is', () => {
    const { context, answer } = ask(KEY);
    expect(answer()).toBe(true);
    expect([context.credential, reads]).toEqual(['writer', 0]);
    expect(context.caller).toEqual({
      id: credentialDigest(KEY).toString('base64'),
      isSubject: false,
    });
    expect(accessOf(context)).toEqual({ scope: 'commands' });
  });

  it('refuses a key without the scope with 403, and notes whose it is', () => {
    const { context, answer } = ask(READER);
    expect(answer).toThrow(expect.objectContaining({ code: 'scope_not_covered', status: 403 }));
    expect([context.credential, accessOf(context)]).toEqual(['reader', undefined]);
  });

  it('refuses what is no key with 401, after it has read the files again', async () => {
    const { context, answer } = ask(UNKNOWN);
    await expect(answer()).rejects.toMatchObject({
      code: 'invalid_credentials',
      reason: 'not_an_api_key',
      status: 401,
    });
    expect([reads, context.credential, accessOf(context)]).toEqual([1, undefined, undefined]);
  });

  it('lets in a key that has just come into its file', async () => {
    onRead = () => use(`${UNKNOWN} name=new`);
    const { context, answer } = ask(UNKNOWN);
    expect(await answer()).toBe(true);
    expect(context.credential).toBe('new');
  });

  it('refuses a request without a credential at once', () => {
    const { request } = guardedRequest('POST', '/api/spawn');
    expect(() => guard.canActivate(executionContext(request, Controller, 'handle'))).toThrow(
      expect.objectContaining({ code: 'missing_credentials' }),
    );
    expect(reads).toBe(0);
  });

  it('lets nobody in where the route declares no scope', () => {
    expect(ask(KEY, 'noScope').answer).toThrow('Controller declares no scope for a route');
  });
});
