import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { askRaw, problemAnswer } from '../support/ask-raw.ts';
import { READ_TOKEN_SECRET, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { inTime } from '../support/in-time.ts';
import { rawAnswer } from '../support/raw-client.ts';
import { mintReadToken } from '../support/read-tokens.ts';
import { scriptedUpstream } from '../support/scripted-gateway.ts';
import { spellings, twinOf } from '../support/token-spellings.ts';
import { until } from '../support/until.ts';

const UNAVAILABLE = problemAnswer(
  503,
  'keys_unavailable',
  'The token keys are not available',
  'The keys of read tokens are not available; try again.',
);
const BAD_SIGNATURE = problemAnswer(
  401,
  'invalid_credentials',
  'Credentials are not valid',
  "The read token's signature is not valid here.",
);
const NOT_CANONICAL = problemAnswer(
  401,
  'invalid_credentials',
  'Credentials are not valid',
  'The read token is not valid here: each of its parts must be in canonical base64url.',
);

describe('a read token of a key set', () => {
  const pair = (alg: 'EdDSA' | 'ES256' | 'RS256') => {
    const keys = {
      EdDSA: () => generateKeyPairSync('ed25519'),
      ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    }[alg]();
    const kid: string = randomUUID();
    return {
      jwk: { ...keys.publicKey.export({ format: 'jwk' }), kid },
      token: (named = kid) =>
        new SignJWT({ prefix: '/streams' })
          .setProtectedHeader({ alg, kid: named })
          .setAudience('default')
          .setIssuedAt()
          .setExpirationTime('10m')
          .sign(keys.privateKey),
    };
  };
  const upstream = scriptedUpstream((_, response) => response.end('served'));
  let gateway: TestGateway;
  afterEach(() => gateway?.stop());

  async function startWith(jwks: string, settings: Record<string, string> = {}): Promise<void> {
    gateway = await startTestGateway({
      GATEWAY_HISTORY_URL: upstream.url,
      GATEWAY_READ_TOKEN_JWKS: jwks,
      ...settings,
    });
  }
  const ofSecret = (): Promise<string> =>
    mintReadToken(READ_TOKEN_SECRET, { prefix: '/streams', ttlSeconds: 60 });
  const read = (token: string): Promise<object> => askRaw(gateway.port, 'GET /streams/x', token);

  describe('at a URL', () => {
    let serve: (response: ServerResponse) => void;
    const keyServer = scriptedUpstream((_, response) => serve(response));
    const serveKeys = (...keys: object[]): void => {
      serve = (response) => response.end(JSON.stringify({ keys }));
    };

    it('is let in by EdDSA, ES256 and RS256, beside those of shared secrets', async () => {
      const pairs = (['EdDSA', 'ES256', 'RS256'] as const).map(pair);
      serveKeys(...pairs.map(({ jwk }) => jwk));
      await startWith(keyServer.url);
      for (const token of [...pairs.map((one) => one.token()), ofSecret()]) {
        expect(await read(await token)).toMatchObject({ status: 200 });
      }
    });

    it('is not fetched for each of a hundred tokens with forged kids', async () => {
      const [good, forger] = [pair('EdDSA'), pair('EdDSA')];
      serveKeys(good.jwk);
      await startWith(keyServer.url);
      expect(await read(await good.token())).toMatchObject({ status: 200 });
      const forged = Array.from({ length: 100 }, (_, i) => forger.token(`forged-${i}`));
      const before = keyServer.seen.length;
      const startedAtMs = performance.now();
      const answers = await Promise.all(forged.map(async (token) => read(await token)));
      for (const answer of answers) expect(answer).toEqual(BAD_SIGNATURE);
      // It is fetched every two seconds, whatever tokens come.
      const tookMs = performance.now() - startedAtMs;
      expect(keyServer.seen.length - before).toBeLessThanOrEqual(1 + Math.ceil(tookMs / 2_000));
    });

    it.each<[string, (response: ServerResponse) => void]>([
      ['is down', (response) => void response.destroy()],
      ['answers 500', (response) => response.writeHead(500).end()],
      ['answers HTML', (response) => response.end('<html></html>')],
      [
        'sends its callers elsewhere',
        (response) => response.writeHead(302, { location: '/x' }).end(),
      ],
    ])('leaves it unjudged where its server %s, and is an open door to none', async (_, script) => {
      serve = script;
      await startWith(keyServer.url);
      const { token } = pair('EdDSA');
      const headers = ['X-Request-Id: r1', `Authorization: Bearer ${await token()}`];
      const { status, head, body } = await rawAnswer(gateway.port, 'GET /streams/x', headers);
      expect({ status, body: JSON.parse(body) as object }).toEqual(UNAVAILABLE);
      expect(head).toMatch(/^Retry-After: 1$/im);
      expect(head).toMatch(/^Cache-Control: no-store$/im);
      // What can be judged without the set still is.
      expect(await read(await ofSecret())).toMatchObject({ status: 200 });
      expect(await read('nonsense')).toMatchObject({ status: 401 });
    });

    it('starts though nobody listens there', async () => {
      await startWith('http://127.0.0.1:2/keys');
      expect(await read(await pair('EdDSA').token())).toEqual(UNAVAILABLE);
    });
  });

  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'jwks-'));
    file = join(folder, 'keys.json');
  });
  afterEach(() => rm(folder, { recursive: true }));

  // An ES256 signature has a twin that anybody can make, and sixteen spellings of each: 32 credentials
  // that each had a rate and open reads of their own.
  it('has one limit whatever its signature looks like', async () => {
    const keys = pair('ES256');
    await writeFile(file, JSON.stringify({ keys: [keys.jwk] }));
    // Bursts of two.
    await startWith(file, { GATEWAY_RATE_LIMIT_PER_SECOND: '1' });
    for (const spelling of spellings(await keys.token())) {
      expect(await read(spelling)).toEqual(NOT_CANONICAL);
    }
    // After a second there may be one more, and there is another token.
    await inTime(1_000, async () => {
      const token = await keys.token();
      const answers = [];
      for (const one of [token, twinOf(token), token, twinOf(token)]) answers.push(await read(one));
      expect(answers).toMatchObject([200, 429, 429, 429].map((status) => ({ status })));
    });
  });

  it('in a file is let in by the keys that stand in it now', async () => {
    const [before, after] = [pair('EdDSA'), pair('ES256')];
    const write = async (text: string): Promise<void> => {
      await writeFile(`${file}.next`, text);
      await rename(`${file}.next`, file);
    };
    const statusOf = async (token: Promise<string>): Promise<unknown> =>
      ((await read(await token)) as { status: number }).status;

    await write(JSON.stringify({ keys: [before.jwk] }));
    await startWith(file);
    expect([await statusOf(before.token()), await statusOf(after.token())]).toEqual([200, 401]);

    await write('{"keys":[');
    while (!gateway.logLines.some((line) => line.includes('the list in use is kept'))) {
      expect(await statusOf(before.token())).toBe(200);
    }
    expect(await statusOf(after.token())).toBe(503);

    await write(JSON.stringify({ keys: [after.jwk] }));
    await until('the former key is refused', async () => (await statusOf(before.token())) === 401);
    expect(await statusOf(after.token())).toBe(200);
  });
});
