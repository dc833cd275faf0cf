import { SignJWT } from 'jose';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { executionContext, guardedRequest } from '../../test/support/execution-context.ts';
import { parseApiKeys } from '../contract/secret-lists.ts';
import type { SecretFiles } from '../platform/config/secret-files.ts';
import { Access, type AccessRule } from './access.decorator.ts';
import { AccessGuard } from './access.guard.ts';
import { ApiKeys } from './api-keys.ts';
import { credentialDigest } from './bearer.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';
import { accessOf } from './request-access.ts';

const NOW_MS = 1_800_000_000_000;
const NOW = NOW_MS / 1_000;
const SECRET = 'a-secret-of-at-least-thirty-two-bytes';
const NEW_SECRET = 'a-newer-secret-of-at-least-thirty-two-bytes';
const KEY = 'a-key-of-some-length';
const READER = 'another-key-of-some-length';
const UNKNOWN = 'no-key-but-of-some-length';
const RULES = { tenant: 'acme', maxTtlSeconds: 3_600, maxKnownTokens: 10 };

@Access('commands')
class Controller {
  ofController(): void {}

  @Access('public')
  open(): void {}

  @Access('streams:read')
  forReaders(): void {}

  @Access('everybody' as AccessRule)
  unknown(): void {}
}
type Route = 'ofController' | 'open' | 'forReaders' | 'unknown';

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

describe('AccessGuard', () => {
  let keys: { entries: ReturnType<typeof parseApiKeys>['entries']; version: number };
  let secrets: { entries: Buffer[]; version: number };
  let files: { version: number; reads: number; onRead: () => void; readAgain(): Promise<void> };
  let nowMs: number;
  let guard: AccessGuard;
  let verify: ReturnType<typeof jest.spyOn>;
  const use = (list: string) => void (keys.entries = parseApiKeys(list, 'variable').entries);

  beforeEach(() => {
    keys = { entries: [], version: 0 };
    use(`${KEY} name=writer,${READER} name=reader scopes=streams:read`);
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
    guard = new AccessGuard(new ApiKeys(keys), verifier, ofCredentials);
  });

  function askRoute(route: Route, credential?: string) {
    const headers: Record<string, string> =
      credential === undefined ? {} : { authorization: `Bearer ${credential}` };
    const { request, context } = guardedRequest('POST', '/api/spawn', headers);
    return {
      context,
      answer: () => guard.canActivate(executionContext(request, Controller, route)),
    };
  }

  describe('on a route', () => {
    it('that is public lets everybody in', () => {
      expect(askRoute('open').answer()).toBe(true);
      expect(askRoute('open', UNKNOWN).answer()).toBe(true);
    });

    it('lets nobody in where no access is declared, or one that there is not', () => {
      expect(() => guard.canActivate(executionContext({}))).toThrow('declares no access');
      expect(askRoute('unknown', KEY).answer).toThrow(
        expect.objectContaining({ code: 'scope_not_covered' }),
      );
    });

    it('goes by what the controller declares where the route declares nothing', () => {
      const { context, answer } = askRoute('ofController', KEY);
      expect(answer()).toBe(true);
      expect(accessOf(context)).toEqual({ scope: 'commands' });
    });
  });

  describe('on a route for API keys', () => {
    const ask = (credential: string) => askRoute('ofController', credential);

    it('lets a key in at once, and notes whose it is', () => {
      const { context, answer } = ask(KEY);
      expect(answer()).toBe(true);
      expect([context.credential, files.reads]).toEqual(['writer', 0]);
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
      expect([files.reads, context.credential, accessOf(context)]).toEqual([
        1,
        undefined,
        undefined,
      ]);
    });

    it('lets in a key that has just come into its file', async () => {
      files.onRead = () => {
        use(`${UNKNOWN} name=new`);
        files.version++;
      };
      const { context, answer } = ask(UNKNOWN);
      expect(await answer()).toBe(true);
      expect(context.credential).toBe('new');
    });

    it('refuses a read token with 401', async () => {
      await expect(ask(await tokenOf()).answer()).rejects.toMatchObject({
        code: 'invalid_credentials',
        reason: 'not_an_api_key',
      });
      expect(verify).not.toHaveBeenCalled();
    });

    it('refuses a request without a credential at once', () => {
      expect(askRoute('ofController').answer).toThrow(
        expect.objectContaining({ code: 'missing_credentials' }),
      );
      expect(files.reads).toBe(0);
    });
  });

  describe('on a route for read tokens, too,', () => {
    function ask(credential: string, { method = 'GET', path = '/streams/t/acme/x' } = {}) {
      const { request, context } = guardedRequest(method, path, {
        authorization: `Bearer ${credential}`,
      });
      const answer = async () =>
        guard.canActivate(executionContext(request, Controller, 'forReaders'));
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
      expect(guard.canActivate(executionContext(request, Controller, 'forReaders'))).toBe(true);
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
      const known = guardedRequest('GET', '/streams/t/acme/y', {
        authorization: `Bearer ${token}`,
      });
      expect(guard.canActivate(executionContext(known.request, Controller, 'forReaders'))).toBe(
        true,
      );
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
});
