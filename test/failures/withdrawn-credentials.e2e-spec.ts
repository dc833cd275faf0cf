import { createSecretKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportJWK, SignJWT } from 'jose';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { forThisTest } from '../support/for-this-test.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { newFolder } from '../support/new-folder.ts';
import { until } from '../support/until.ts';
import { startHeldUpstream, WITNESS, type HeldUpstream } from '../reads/held-upstream.ts';
import { numberedEvent } from '../reads/sharing-gateway.ts';
import { Reader, type Answer } from '../reads/reader.ts';

const KEEP = 'a-key-that-stays-in-use';
const GOES = 'a-key-that-is-withdrawn';
const SECRETS = ['a-secret-of-32-bytes-that-stays-1', 'a-secret-of-32-bytes-that-goes-22'] as const;
const ALL = 'name=stays';
const LONG_POLL = '/streams/t/default/x?offset=1_0&live=long-poll';
const SSE = '/streams/t/default/x?offset=1_0&live=sse';

describe('a credential that is withdrawn', () => {
  let folder: string;
  let upstream: HeldUpstream;
  let gateway: TestGateway;
  const jwks = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')] as const;

  const file = (name: string): string => join(folder, name);
  /** As a Kubernetes mount does: another file in its place. */
  async function write(name: string, text: string): Promise<void> {
    const other = file(randomUUID());
    await writeFile(other, text);
    await rename(other, file(name));
  }
  const jwkSet = async (...keys: number[]): Promise<string> =>
    JSON.stringify({
      keys: await Promise.all(
        keys.map(async (index) => ({
          ...(await exportJWK(jwks[index === 0 ? 0 : 1].publicKey)),
          alg: 'EdDSA',
          use: 'sig',
        })),
      ),
    });

  beforeEach(async () => {
    folder = forThisTest(await newFolder()).path;
    await write('keys', `${KEEP} ${ALL}\n${GOES} name=goes`);
    await write('secrets', SECRETS.join('\n'));
    await write('jwks', await jwkSet(0, 1));
    upstream = forThisTest(await startHeldUpstream());
    gateway = forThisTest(
      await startTestGateway({
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_SYNC_URL: upstream.url,
        GATEWAY_API_KEYS: '',
        GATEWAY_API_KEYS_FILE: file('keys'),
        GATEWAY_READ_TOKEN_SECRETS: '',
        GATEWAY_READ_TOKEN_SECRETS_FILE: file('secrets'),
        GATEWAY_READ_TOKEN_JWKS: file('jwks'),
      }),
    );
  });

  const read = (credential: string, target = LONG_POLL): Reader =>
    new Reader(gateway.url + target, { headers: { authorization: `Bearer ${credential}` } });
  /** Resolves once the gateway has taken these reads in. A further one with a good credential tells. */
  async function taken(readers: readonly Reader[], credential = KEEP): Promise<void> {
    await Promise.all(readers.map((reader) => reader.sent()));
    await upstream.at('live=long-poll').nth(1);
    const headers = { authorization: `Bearer ${credential}` };
    await (await fetch(`${gateway.url}/streams/${WITNESS}`, { headers })).text();
  }
  const isOver = (reader: Reader): Promise<boolean> =>
    Promise.race([
      reader.ended.then(() => true),
      new Promise<boolean>((resolve) => setImmediate(() => resolve(false))),
    ]);
  const mint = (alg: string, key: Parameters<SignJWT['sign']>[0]): Promise<string> =>
    new SignJWT({ prefix: '/streams' })
      .setProtectedHeader({ alg })
      .setAudience('default')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(key);
  const problemOf = ({ status, body }: Answer) => [
    status,
    (JSON.parse(body.toString()) as { code: string }).code,
  ];

  /** What withdraws the second of two credentials, and gives the two. */
  const WAYS: [what: string, withdraw: () => Promise<void>, pair: () => Promise<string[]>][] = [
    ['an API key', () => write('keys', `${KEEP} ${ALL}`), () => Promise.resolve([KEEP, GOES])],
    [
      'the secret of a read token',
      () => write('secrets', SECRETS[0]),
      () =>
        Promise.all(SECRETS.map((secret) => mint('HS256', createSecretKey(Buffer.from(secret))))),
    ],
    [
      'the JWK of a read token',
      async () => write('jwks', await jwkSet(0)),
      () => Promise.all(jwks.map(({ privateKey }) => mint('EdDSA', privateKey))),
    ],
  ];

  it.each(WAYS)('takes the parked reads along that it opened: %s', async (_, withdraw, pair) => {
    const [keep = '', goes = ''] = await pair();
    const [stays, ends] = [read(keep), read(goes)];
    await taken([stays, ends]);
    await withdraw();
    expect(problemOf(await ends.ended)).toEqual([401, 'invalid_credentials']);
    // The one that shares its request continues.
    expect(upstream.at('live=long-poll').all).toHaveLength(1);
    (await upstream.at('live=long-poll').nth(1)).answer(
      200,
      { 'content-type': 'text/plain' },
      'new',
    );
    expect((await stays.ended).body.toString()).toBe('new');
  });

  // It took 20 s: the gateway asked the key set's server no more often. How often it does is in `token-key-set.spec.ts`.
  it('takes the parked reads along that it opened: the JWK of a set at a URL', async () => {
    let served = await jwkSet(0, 1);
    const keyServer = forThisTest(
      await startScriptedUpstream((_, response) => void response.end(served)),
    );
    gateway = forThisTest(
      await startTestGateway({
        GATEWAY_HISTORY_URL: upstream.url,
        GATEWAY_READ_TOKEN_SECRETS: '',
        GATEWAY_READ_TOKEN_JWKS: keyServer.url,
      }),
    );
    const [keep = '', goes = ''] = await Promise.all(
      jwks.map(({ privateKey }) => mint('EdDSA', privateKey)),
    );
    const [stays, ends] = [read(keep), read(goes)];
    await taken([stays, ends], keep);
    served = await jwkSet(0);
    expect(problemOf(await ends.ended)).toEqual([401, 'invalid_credentials']);
    const headers = { 'content-type': 'text/plain' };
    (await upstream.at('live=long-poll').nth(1)).answer(200, headers, 'new');
    expect((await stays.ended).body.toString()).toBe('new');
  });

  it('ends event streams between events, and leaves those of others', async () => {
    upstream.at('live=sse').each((request) => {
      request.begin(200, { 'content-type': 'text/event-stream' }, numberedEvent(1));
    });
    const [stays, ends] = [read(KEEP, SSE), read(GOES, SSE)];
    await Promise.all([stays, ends].map((reader) => reader.untilText(numberedEvent(1))));
    await write('keys', `${KEEP} ${ALL}`);
    const { isWhole, body } = await ends.ended;
    expect([isWhole, body.toString()]).toEqual([true, numberedEvent(1)]);
    expect(await isOver(stays)).toBe(false);
  });

  it('is one too that does not open the read any more', async () => {
    const [scope, path] = [read(GOES), read(KEEP)];
    await taken([scope, path]);
    await write(
      'keys',
      `${KEEP} ${ALL} paths=/streams/t/other\n${GOES} name=goes scopes=streams:write`,
    );
    expect(problemOf(await scope.ended)).toEqual([403, 'scope_not_covered']);
    expect(problemOf(await path.ended)).toEqual([403, 'scope_not_covered']);
  });

  it('is none where its key has another name or place, or the file has turned bad', async () => {
    const reader = read(GOES);
    await upstream.at('live=long-poll').nth(1);
    await write('keys', `${GOES} name=other scopes=streams:read\n${KEEP} ${ALL}`);
    await logged('secrets reloaded');
    await write('keys', `${KEEP} nonsense`);
    await logged('the list in use is kept');
    (await upstream.at('live=long-poll').nth(1)).answer(
      200,
      { 'content-type': 'text/plain' },
      'new',
    );
    expect((await reader.ended).body.toString()).toBe('new');
    expect(gateway.logLines.join('\n')).not.toContain('nonsense');
  });

  it('takes a crowd along, and others stay', async () => {
    const readers = Array.from({ length: 400 }, (_, index) => read(index % 2 ? KEEP : GOES));
    await taken(readers);
    await write('keys', `${KEEP} ${ALL}`);
    const answers = await Promise.all(readers.filter((_, i) => i % 2 === 0).map((r) => r.ended));
    expect(answers.every(({ status }) => status === 401)).toBe(true);
    const others = readers.filter((_, index) => index % 2);
    expect(await Promise.all(others.map(isOver))).not.toContain(true);
  });

  /** Resolves once a line of the log holds this. */
  function logged(text: string): Promise<void> {
    return until(`the log says "${text}"`, () =>
      gateway.logLines.some((line) => line.includes(text)),
    );
  }
});
