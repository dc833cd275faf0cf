import { Reflector } from '@nestjs/core';
import { SignJWT } from 'jose';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { executionContext, guardedRequest } from '../../test/support/execution-context.ts';
import { parseApiKeys } from '../contract/secret-lists.ts';
import type { SecretFiles } from '../platform/config/secret-files.ts';
import { RequiredScope } from './access.decorator.ts';
import { ApiKeyGuard } from './api-key.guard.ts';
import { ApiKeys } from './api-keys.ts';
import { ReadAccessGuard } from './read-access.guard.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';
import { accessOf } from './request-access.ts';
import { RouteRules } from './route-rules.ts';

const NOW_MS = 1_800_000_000_000;
const NOW = NOW_MS / 1_000;
const SECRET = 'a-secret-of-at-least-thirty-two-bytes';
const NEW_SECRET = 'a-newer-secret-of-at-least-thirty-two-bytes';
const KEY = 'a-key-of-some-length';
const RULES = { tenant: 'acme', maxTtlSeconds: 3_600, maxKnownTokens: 10 };

class Controller {
  @RequiredScope('streams:read')
  handle(): void {}
}

function tokenOf(secret = SECRET, claims: object = {}): Promise<string> {
  return new SignJWT({
    aud: 'acme',
    iat: NOW,
    exp: NOW + 600,
    prefix: '/streams/t/acme',
    ...claims,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.from(secret));
}

describe('ReadAccessGuard', () => {
  let keys: { entries: ReturnType<typeof parseApiKeys>['entries'] };
  let secrets: { entries: Buffer[]; version: number };
  let files: { version: number; reads: number; onRead: () => void; readAgain(): Promise<void> };
  let nowMs: number;
  let guard: ReadAccessGuard;
  let verify: ReturnType<typeof jest.spyOn>;

  beforeEach(() => {
    keys = { entries: parseApiKeys(KEY, 'variable').entries };
    secrets = { entries: [Buffer.from(SECRET)], version: 0 };
    nowMs = NOW_MS;
    files = {
      version: 0,
      reads: 0,
      onRead: () => undefined,
      readAgain: async () => {
        files.reads++;
        await Promise.resolve();
        files.onRead();
      },
    };
    const verifier = new ReadTokenVerifier(secrets, undefined, RULES, () => nowMs);
    verify = jest.spyOn(verifier, 'verify');
    const ofCredentials = files as unknown as SecretFiles;
    const rules = new RouteRules(new Reflector());
    const apiKeyGuard = new ApiKeyGuard(new ApiKeys(keys), ofCredentials, rules);
    guard = new ReadAccessGuard(apiKeyGuard, verifier, ofCredentials);
  });

  function ask(credential: string, { method = 'GET', path = '/streams/t/acme/x' } = {}) {
    const { request, context } = guardedRequest(method, path, {
      authorization: `Bearer ${credential}`,
    });
    const answer = async () => guard.canActivate(executionContext(request, Controller, 'handle'));
    return { context, answer };
  }
  const refusal = (credential: string, where = {}): Promise<unknown> =>
    ask(credential, where)
      .answer()
      .then(
        () => 'let in',
        ({ code }: { code: string }) => code,
      );

  it('lets an API key in at once, and notes its scope', () => {
    const { request, context } = guardedRequest('POST', '/streams/x', {
      authorization: `Bearer ${KEY}`,
    });
    expect(guard.canActivate(executionContext(request, Controller, 'handle'))).toBe(true);
    expect(accessOf(context)).toMatchObject({ scope: 'streams:read' });
    expect(context.expiresAtMs).toBeUndefined();
  });

  it('lets a read token in, and notes it and when it ends', async () => {
    const { context, answer } = ask(await tokenOf(SECRET, { sub: 'ada' }));
    expect(await answer()).toBe(true);
    expect([context.credential, context.subject]).toEqual(['read-token', 'ada']);
    expect(context.expiresAtMs).toBe((NOW + 600) * 1_000);
    expect(accessOf(context)?.readToken?.subject).toBe('ada');
  });

  it('judges a token that it knows at once, and by its path and end as any other', async () => {
    const token = await tokenOf();
    await ask(token).answer();
    const known = guardedRequest('GET', '/streams/t/acme/y', { authorization: `Bearer ${token}` });
    expect(guard.canActivate(executionContext(known.request, Controller, 'handle'))).toBe(true);
    expect(accessOf(known.context)?.readToken).toBeDefined();
    expect(await refusal(token, { path: '/streams/t/acmes' })).toBe('prefix_not_covered');
    expect(await refusal(token, { method: 'POST' })).toBe('read_only_token');
    nowMs += 600_000;
    expect(await refusal(token)).toBe('token_expired');
    expect(files.reads).toBe(0);
  });

  it('notes a token that does not open the path, but not as what opened it', async () => {
    const { context, answer } = ask(await tokenOf(), { path: '/streams/t/other' });
    await expect(answer()).rejects.toMatchObject({ code: 'prefix_not_covered', status: 403 });
    expect([context.credential, accessOf(context)]).toEqual(['read-token', undefined]);
    expect(files.reads).toBe(0);
  });

  it('refuses a token of another secret after it has read the files again', async () => {
    const { context, answer } = ask(await tokenOf(NEW_SECRET));
    await expect(answer()).rejects.toMatchObject({ code: 'invalid_credentials', status: 401 });
    expect([files.reads, context.credential]).toEqual([1, undefined]);
    // The same lists would say the same.
    expect(verify).toHaveBeenCalledTimes(1);
  });

  it('refuses it, too, when the files have changed and it is in none of them', async () => {
    files.onRead = () => files.version++;
    const { context, answer } = ask(await tokenOf(NEW_SECRET));
    await expect(answer()).rejects.toMatchObject({ code: 'invalid_credentials', status: 401 });
    expect([accessOf(context), verify.mock.calls.length]).toEqual([undefined, 2]);
  });

  it.each<[string, () => Promise<string>, () => void]>([
    [
      'a token whose secret',
      () => tokenOf(NEW_SECRET),
      () => void (secrets.entries = [Buffer.from(NEW_SECRET)]),
    ],
    [
      'a key that',
      () => Promise.resolve('a-new-key-of-some-length'),
      () => void (keys.entries = parseApiKeys('a-new-key-of-some-length', 'variable').entries),
    ],
  ])('lets in %s has just come into its file', async (_, credential, change) => {
    files.onRead = () => {
      change();
      files.version++;
    };
    const { context, answer } = ask(await credential());
    expect(await answer()).toBe(true);
    expect(accessOf(context)).toBeDefined();
  });

  // Another request had the files read while this one was judged by the former ones.
  it('judges again when the files have changed while it judged', async () => {
    const { answer } = ask(await tokenOf(NEW_SECRET));
    const judged = answer();
    secrets.entries = [Buffer.from(NEW_SECRET)];
    files.version++;
    expect(await judged).toBe(true);
  });

  it('reports an error of its own as it is', async () => {
    secrets.entries = undefined as never;
    await expect(ask(await tokenOf()).answer()).rejects.toBeInstanceOf(TypeError);
    expect(files.reads).toBe(0);
  });
});
