import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { problem } from '../support/ask-raw.ts';
import {
  API_KEY,
  READ_TOKEN_SECRET,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts';
import { rawAnswer } from '../support/raw-client.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { scriptedGateway } from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';

const bearer = (credential: string): string => `Authorization: Bearer ${credential}`;

describe('credentials', () => {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const { gateway: ofKeys, upstream } = scriptedGateway(
    (_, response) => response.end('{}'),
    () => ({
      GATEWAY_API_KEYS: `${API_KEY},second-key-0123456789,sha256:${digest('hashed-key-0123456789')}`,
    }),
  );
  const statusAt = async (url: string, credential: string): Promise<number> => {
    const headers = { authorization: `Bearer ${credential}` };
    return (await fetch(url, { headers })).status;
  };

  describe('of a request', () => {
    const gateway = ofKeys;

    /** Status, challenge, caching and whole body of an answer. */
    async function refusal(line: string, ...headers: string[]): Promise<object> {
      const all = ['X-Request-Id: r1', ...headers];
      const { status, head, body } = await rawAnswer(gateway.port, line, all);
      const header = (name: string): string | undefined =>
        new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1];
      return {
        status,
        challenge: header('www-authenticate'),
        caching: header('cache-control'),
        type: header('content-type'),
        body: JSON.parse(body) as unknown,
      };
    }

    function unauthorized(code: string, title: string, detail: string): object {
      const isSent = code !== 'missing_credentials';
      return {
        status: 401,
        challenge: isSent ? 'Bearer error="invalid_token"' : 'Bearer',
        caching: 'no-store',
        type: 'application/problem+json',
        body: problem(401, code, title, detail),
      };
    }
    const MISSING = unauthorized(
      'missing_credentials',
      'Credentials are missing',
      'Send the header "Authorization: Bearer <credential>".',
    );
    const invalid = (detail: string): object =>
      unauthorized('invalid_credentials', 'Credentials are not valid', detail);
    const WRONG_FORM = 'The Authorization header must be "Bearer <credential>", given once.';
    const NO_API_KEY = 'This route needs an API key, and the credential is not one of them.';
    const NO_TOKEN = 'The credential is neither an API key nor a read token.';

    it.each(['GET /streams/t/x', 'GET /shapes/v1/shape', 'GET /registry/deployments'])(
      'let it through with an API key: %s',
      async (line) => {
        for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
          const headers = [`Authorization: ${scheme} ${API_KEY}`];
          expect((await rawAnswer(gateway.port, line, headers)).status).toBe(200);
        }
      },
    );

    it.each([
      'GET /streams/t/x',
      'PUT /streams/t/x',
      'POST /streams/t/x',
      'DELETE /streams/t/x',
      'GET /shapes/v1/shape',
      'GET /registry/deployments',
      'DELETE /registry/deployments/x',
      'POST /api/spawn',
      'POST /api/t/default/a/chat/a1/send',
      'POST /api/a/chat/a1/control',
    ])('refuse it without any: %s', async (line) => {
      expect(await refusal(line)).toEqual(MISSING);
      expect(await refusal(line, 'Authorization: ')).toEqual(MISSING);
      expect(upstream.seen).toEqual([]);
    });

    it.each([
      ['Basic YTpi'],
      [`Basic ${API_KEY}`],
      [API_KEY],
      [`Bearer ${API_KEY} x`],
      [`Bearer\t${API_KEY}`],
      // Two of them, in whatever order.
      [`Bearer ${API_KEY}`, 'Bearer another'],
      ['Bearer another', `Bearer ${API_KEY}`],
      [`Bearer ${API_KEY}`, `Bearer ${API_KEY}`],
    ])('refuse it with %j', async (...values) => {
      const headers = values.map((value) => `Authorization: ${value}`);
      expect(await refusal('GET /streams/t/x', ...headers)).toEqual(invalid(WRONG_FORM));
      expect(upstream.seen).toEqual([]);
    });

    it.each([API_KEY.slice(0, -1), `${API_KEY}x`, API_KEY.toUpperCase(), 'x', 'a.b.c', '..'])(
      'refuse it with the wrong key %s',
      async (key) => {
        expect(await refusal('GET /registry/deployments', bearer(key))).toEqual(
          invalid(NO_API_KEY),
        );
        expect(await refusal('GET /streams/t/x', bearer(key))).toEqual(invalid(NO_TOKEN));
      },
    );

    it('count in no other place', async () => {
      const elsewhere = [
        `Cookie: authorization=Bearer%20${API_KEY}; token=${API_KEY}`,
        `X-Api-Key: ${API_KEY}`,
        `Proxy-Authorization: Bearer ${API_KEY}`,
        `X-Authorization: Bearer ${API_KEY}`,
      ];
      const line = `GET /streams/t/x?access_token=${API_KEY}&api_key=${API_KEY}&token=${API_KEY}`;
      expect(await refusal(line, ...elsewhere)).toEqual(MISSING);
      expect(upstream.seen).toEqual([]);
    });

    it('of a reader open no other route', async () => {
      const token = await mintReadToken(READ_TOKEN_SECRET, {
        prefix: ['/streams', '/shapes'],
        ttlSeconds: 60,
      });
      for (const line of [
        'GET /registry/deployments',
        'POST /api/spawn',
        'POST /api/a/chat/a1/send',
        'POST /api/t/default/a/chat/a1/control',
      ]) {
        expect(await refusal(line, bearer(token))).toEqual(invalid(NO_API_KEY));
      }
      expect(upstream.seen).toEqual([]);
    });

    it('are looked at after the path, and before the body', async () => {
      expect(await refusal('GET /streams/../x')).toMatchObject({ status: 400 });
      expect(await refusal('GET /streams/../x', bearer('nonsense'))).toMatchObject({ status: 400 });
      const length = 'Content-Length: 999999999';
      expect(await refusal('POST /streams/t/x', length)).toEqual(MISSING);
    });

    it('are never in the log', async () => {
      const token = await mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams', ttlSeconds: -5 });
      await refusal('GET /streams/t/x', bearer(token));
      await refusal('GET /streams/t/x?token=in-the-query', bearer('not-a-key-of-ours'));
      const log = gateway.logLines.join('\n');
      for (const part of [API_KEY, 'in-the-query', 'not-a-key-of-ours', ...token.split('.')]) {
        expect(log).not.toContain(part);
      }
    });
  });

  it.each([
    [API_KEY, 200],
    ['second-key-0123456789', 200],
    ['hashed-key-0123456789', 200],
    [digest('hashed-key-0123456789'), 401],
  ])('are keys of a list, in clear or as a digest: %s is %d', async (key, status) => {
    expect(await statusAt(`${ofKeys.url}/streams/t/x`, key)).toBe(status);
  });

  describe('from files', () => {
    let folder: string;
    let gateway: TestGateway;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'credentials-'));
    });
    afterEach(async () => {
      await gateway?.stop();
      await rm(folder, { recursive: true });
    });

    const start = (env: Record<string, string>): Promise<TestGateway> =>
      startTestGateway({
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_RUNTIME_ADMIN_URL: upstream.url,
        ...env,
      });
    const statusWith = (credential: string): Promise<number> =>
      statusAt(`${gateway.url}/streams/t/x`, credential);
    /** Until the gateway has read a file again, which it does every second. */
    const untilStatus = (credential: string, status: number): Promise<void> =>
      until(`a credential gets ${status}`, async () => (await statusWith(credential)) === status);
    /** As Kubernetes changes a mounted secret: a link to a folder is swapped for another at once. */
    async function swapMount(name: string, files: Record<string, string>): Promise<void> {
      await mkdir(join(folder, name));
      for (const [file, text] of Object.entries(files))
        await writeFile(join(folder, name, file), text);
      await symlink(name, join(folder, '..next'));
      await rename(join(folder, '..next'), join(folder, '..data'));
    }
    const [OLD, NEW] = ['old-key-0123456789', 'new-key-0123456789'];
    const secretOf = (name: string): string => `${name}-secret-0123456789-0123456789`;
    const tokenOf = (name: string): Promise<string> =>
      mintReadToken(secretOf(name), { prefix: '/streams', ttlSeconds: 600 });

    // They were refused until the next read of the file, for up to a second.
    it('work with the very next request, both kinds, also while others are refused', async () => {
      const write = async (name: string, text: string): Promise<void> => {
        await writeFile(join(folder, `${name}-next`), text);
        await rename(join(folder, `${name}-next`), join(folder, name));
      };
      await Promise.all([write('keys', OLD), write('secrets', secretOf('old'))]);
      gateway = await start({
        GATEWAY_API_KEYS_FILE: join(folder, 'keys'),
        GATEWAY_READ_TOKEN_SECRETS_FILE: join(folder, 'secrets'),
      });
      let isOver = false;
      const refused = Array.from({ length: 4 }, async () => {
        const statuses = new Set<number>();
        while (!isOver) statuses.add(await statusWith('not-a-key-of-the-file'));
        return statuses;
      });
      for (let round = 0; round < 12; round++) {
        const [key, secret] = [`${NEW}-${round}`, secretOf(`new-${round}`)];
        await Promise.all([write('keys', key), write('secrets', secret)]);
        const token = await mintReadToken(secret, { prefix: '/streams', ttlSeconds: 600 });
        expect(await Promise.all([key, token, key].map(statusWith))).toEqual([200, 200, 200]);
        expect(await statusAt(`${gateway.url}/registry/deployments`, key)).toBe(200);
      }
      isOver = true;
      expect(await Promise.all(refused)).toEqual(Array(4).fill(new Set([401])));
    });

    // 0.2 took any visible text for a key, also where the list has only its digest.
    it('are no keys that have another form, not even by their digest', async () => {
      const odd = 'an-odd-key:with-a-colon';
      await writeFile(join(folder, 'keys'), `# ${OLD}\nsha256:${digest(odd)}`);
      gateway = await start({ GATEWAY_API_KEYS_FILE: join(folder, 'keys') });
      expect(await Promise.all([odd, OLD].map(statusWith))).toEqual([401, 401]);
    });

    it('rotate without a restart, and a bad new file keeps the old list', async () => {
      await swapMount('v1', { keys: `${OLD}\n`, secrets: `${secretOf('old')}\n` });
      await symlink('..data/keys', join(folder, 'keys'));
      await symlink('..data/secrets', join(folder, 'secrets'));
      gateway = await start({
        GATEWAY_API_KEYS_FILE: join(folder, 'keys'),
        GATEWAY_READ_TOKEN_SECRETS_FILE: join(folder, 'secrets'),
      });
      const [oldToken, newToken] = [await tokenOf('old'), await tokenOf('new')];
      const all = async (): Promise<number[]> =>
        Promise.all([API_KEY, OLD, NEW, oldToken, newToken].map(statusWith));
      // The list of the variable counts beside the file's.
      expect(await all()).toEqual([200, 200, 401, 200, 401]);

      const both = {
        keys: `${NEW}\n${OLD}\n`,
        secrets: `${secretOf('new')}\r\n${secretOf('old')}`,
      };
      await swapMount('v2', both);
      await Promise.all([untilStatus(NEW, 200), untilStatus(newToken, 200)]);
      expect(await all()).toEqual([200, 200, 200, 200, 200]);

      await swapMount('v3', { keys: 'too short\n', secrets: 'too short\n' });
      const complaints = (): number =>
        gateway.logLines.filter((line) => line.includes('the list in use is kept')).length;
      await until('both files are complained of', () => complaints() >= 2);
      expect(await all()).toEqual([200, 200, 200, 200, 200]);

      await swapMount('v4', { keys: NEW, secrets: secretOf('new') });
      await Promise.all([untilStatus(OLD, 401), untilStatus(oldToken, 401)]);
      expect(await all()).toEqual([200, 401, 200, 401, 200]);
      expect(gateway.logLines.join()).not.toMatch(/(?:old|new)-(?:key|secret)-0123|too short/);
    });
  });
});
