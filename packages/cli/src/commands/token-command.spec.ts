import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { run as runInProcess, type Result } from '../cli-fixture.ts';

const FIRST = 'first-secret-0123456789-0123456789-ab';
const SECOND = 'other-secret-0123456789-0123456789-ab';
const SETTINGS = { GATEWAY_READ_TOKEN_SECRETS: `${FIRST},${SECOND}`, GATEWAY_TENANT: 'acme' };

function run(args: string[], env: Record<string, string> = SETTINGS): Promise<Result> {
  return runInProcess(['token', ...args], { env });
}

async function mint(...args: string[]): Promise<string> {
  const { code, out, err } = await run(['mint', ...args]);
  if (code !== 0) throw new Error(err);
  return out.trim();
}

function sign(claims: object, secret = FIRST): Promise<string> {
  const jwt = new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' });
  return jwt.sign(Buffer.from(secret));
}

const inAnHour = (): object => {
  const iat = Math.floor(Date.now() / 1000);
  return { aud: 'acme', iat, exp: iat + 3_600 };
};

describe('agent-gateway token', () => {
  it('prints one token, signed with the first secret, and nothing else', async () => {
    const { code, out, err } = await run(['mint', '--prefix', '/streams/t/acme/', '--ttl', '3600']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const { iat = 0, exp = 0, ...claims } = decodeJwt(out);
    expect(claims).toEqual({ aud: 'acme', prefix: '/streams/t/acme/' });
    expect(exp - iat).toBe(3_600);
    expect(Math.abs(iat - Date.now() / 1_000)).toBeLessThan(10);
    expect(decodeProtectedHeader(out)).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(await run(['check', out.trim(), '/streams/t/acme/x'])).toMatchObject({ code: 0 });
    const withSecond = { ...SETTINGS, GATEWAY_READ_TOKEN_SECRETS: SECOND };
    expect(await run(['check', out.trim(), '/streams/t/acme/x'], withSecond)).toMatchObject({
      code: 1,
    });
  });

  it('says as JSON what it holds, whether it is accepted, and what it opens', async () => {
    const token = await mint('--prefix', '/streams/a', '--ttl', '5m', '--subject', 'ada');
    const { code, out } = await runInProcess(['token', 'inspect', '-', '--json'], {
      env: SETTINGS,
      input: `${token}\n`,
    });
    const { claims, ...rest } = JSON.parse(out) as { claims: { iat: number; exp: number } };
    expect(code).toBe(0);
    expect(rest).toEqual({ header: { alg: 'HS256', typ: 'JWT' }, accepted: true, why: '' });
    expect(claims).toMatchObject({ aud: 'acme', sub: 'ada', prefix: '/streams/a' });
    expect(claims.exp - claims.iat).toBe(300);
    for (const [path, opens, why] of [
      ['/streams/a/timeline', true, /^until 2/],
      ['/streams/a0/timeline', false, /^403 prefix_not_covered\. /],
    ] as const) {
      const checked = await run(['check', token, path, '--json']);
      expect(checked.code).toBe(opens ? 0 : 1);
      expect(JSON.parse(checked.out)).toEqual({ open: opens, why: expect.stringMatching(why) });
    }
  });

  it('puts several prefixes, a subject and a shape into it', async () => {
    const shape = {
      table: 'entities',
      where: 'type = $1',
      params: { 1: 'chat' },
      columns: ['url'],
    };
    const args = ['--prefix', '/streams/a', '--prefix=/shapes/v1/shape', '--ttl', '60'];
    const token = await mint(...args, '--subject', 'alice', '--shape', JSON.stringify(shape));
    expect(decodeJwt(token)).toMatchObject({
      sub: 'alice',
      prefix: ['/streams/a', '/shapes/v1/shape'],
      shape,
    });
  });

  it('takes the secrets from a file, and the default tenant', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'token-'));
    const file = join(folder, 'secrets');
    await writeFile(file, `\n${FIRST}\n${SECOND}\n`);
    const env = { GATEWAY_READ_TOKEN_SECRETS_FILE: file, GATEWAY_READ_TOKEN_SECRETS: '' };
    const { code, out } = await run(['mint', '--prefix', '/streams', '--ttl', '60'], env);
    await rm(folder, { recursive: true });
    expect([code, decodeJwt(out).aud]).toEqual([0, 'default']);
    const both = { GATEWAY_READ_TOKEN_SECRETS: FIRST };
    expect(await run(['check', out.trim(), '/streams/x'], both)).toMatchObject({ code: 0 });
  });

  const PREFIX_RULE =
    'agent-gateway: The read token is not valid here: prefix must be a path, or up to 16 of them, ' +
    'each beginning with /streams or /shapes.\n';
  const SHAPE_RULE =
    'agent-gateway: The read token is not valid here: shape must be {table, where?, params?, columns?}, ' +
    'params naming every $n.\n';
  const TTL_RULE =
    'agent-gateway: The read token is not valid here: exp - iat must not be over 86400 seconds.\n';
  const NO_JSON = 'agent-gateway: --shape must be JSON.\n';
  const EXPIRED = 'agent-gateway: The read token would expire at once.\n';
  const good = ['--prefix', '/streams', '--ttl', '60'];

  it.each<[string, string[], string]>([
    ['another route', ['--prefix', '/api', '--ttl', '60'], PREFIX_RULE],
    ['too long', ['--prefix', '/streams', '--ttl', '86401'], TTL_RULE],
    ['two days', ['--prefix', '/streams', '--ttl', '2d'], TTL_RULE],
    ['no time', ['--prefix', '/streams', '--ttl', '0'], EXPIRED],
    ['a shape without table', [...good, '--shape', '{}'], SHAPE_RULE],
    ['a shape without params', [...good, '--shape', '{"table":"x","where":"a=$1"}'], SHAPE_RULE],
    ['a shape of no JSON', [...good, '--shape', '{table}'], NO_JSON],
  ])('mints none for %s, which the gateway would refuse', async (_, args, err) => {
    const { err: said, ...rest } = await run(['mint', ...args]);
    expect({ ...rest, err: said.replace(/\d+ s ago/, 'N s ago') }).toEqual({
      code: 2,
      out: '',
      err,
    });
  });

  it.each<[string, Record<string, string>, RegExp]>([
    [
      'no secret',
      {},
      /^agent-gateway: There is no secret to sign with: set GATEWAY_READ_TOKEN_SECRETS or /,
    ],
    [
      'a short secret',
      { GATEWAY_READ_TOKEN_SECRETS: 'short' },
      /^agent-gateway: GATEWAY_READ_TOKEN_SECRETS: entry 1 must have at least 32 bytes\.$/m,
    ],
    [
      'a file that is not there',
      { GATEWAY_READ_TOKEN_SECRETS_FILE: '/nowhere' },
      /^agent-gateway: GATEWAY_READ_TOKEN_SECRETS_FILE must be a readable file \(ENOENT\)\.$/m,
    ],
    [
      'a bad tenant',
      { ...SETTINGS, GATEWAY_TENANT: 'a/b' },
      /^agent-gateway: GATEWAY_TENANT must be /,
    ],
    [
      'a bad limit',
      { ...SETTINGS, GATEWAY_READ_TOKEN_MAX_TTL_SECONDS: '1e3' },
      /^agent-gateway: GATEWAY_READ_TOKEN_MAX_TTL_SECONDS must be /,
    ],
  ])('says what is wrong with the settings: %s', async (_, env, expected) => {
    const { code, out, err } = await run(['mint', ...good], env);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(expected);
    expect(err).not.toContain('short\n');
  });

  it.each([
    [['mint']],
    [['mint', '--prefix', '/streams']],
    [['mint', '--ttl', '60']],
    [['mint', '--prefix', '/streams', '--ttl', 'an hour']],
    [['mint', '--prefix', '/streams', '--ttl', '1e3']],
    [['mint', '--prefix', '/streams', '--ttl', '-5']],
    [['mint', '--prefix', '/streams', '--ttl', '60', 'more']],
    [['mint', '--prefix']],
    [['mint', '--unknown']],
    [['inspect', 'a.b.c', 'more']],
    [['check', 'a.b.c']],
    [['check', 'a.b.c', '/streams/x', '/streams/y']],
    [['check', 'a.b.c', '/streams/x', '--ttl', '60']],
  ])('refuses the wrong usage %j with code 2', async (args) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^agent-gateway: /);
  });

  describe('inspect', () => {
    it('says all that a good token opens, until when, and that it is accepted', async () => {
      const times = { iat: 1_700_000_000, exp: 1_700_003_600 };
      const claims = {
        aud: ['other', 'acme'],
        sub: 'alice',
        ...times,
        prefix: ['/streams/t/acme/', '/shapes', '/shapes/other', '/streams/__ds'],
        shape: { table: 'entities', where: 'a = $1', params: { 1: 'x' }, columns: ['url', 'id'] },
      };
      const { code, out, err } = await run(['inspect', await sign(claims)]);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out.replaceAll(/\d+ (days|s) ago/g, 'N $1 ago')).toBe(
        [
          'A token for the tenant ["other","acme"], subject alice.',
          'Signed by HS256.',
          'Opens GET and HEAD of:',
          '  /streams/t/acme and all below it',
          '  /shapes/v1/shape',
          '  /shapes/other (nothing: under /shapes only /shapes/v1/shape is open)',
          '  /streams/__ds (nothing: __ds is for API keys only)',
          'Of shapes it opens the table entities only, where a = $1, with the params {"1":"x"}, the columns url, id.',
          'Issued: 2023-11-14T22:13:20.000Z (N days ago).',
          'Expires: 2023-11-14T23:13:20.000Z (N days ago).',
          'A gateway with these settings (tenant acme) refuses it: 401 token_expired. The read token expired N s ago. Get a new one and continue from the last offset. If it is new, check the clock of the machine that made it.',
          '',
        ].join('\n'),
      );
    });

    it('says of a good one that it is accepted', async () => {
      const { out } = await run(['inspect', await mint(...good)]);
      expect(out).toContain('Expires: ');
      expect(out).toMatch(/\nA gateway with these settings \(tenant acme\) accepts it\.\n$/);
    });

    it.each<[string, object, RegExp]>([
      ['another tenant', { aud: 'other' }, /refuses it: 401 invalid_credentials\. .* aud must be/],
      ['no prefix', { prefix: undefined }, /\n {2}\(missing\) \(no prefix of a read path/],
      ['a bad prefix', { prefix: '/api' }, /\n {2}\/api \(no prefix of a read path/],
      ['a bad shape', { shape: { limit: 1 } }, /Its shape claim is not valid: {"limit":1}/],
      ['a time that is none', { exp: 'soon' }, /Expires: soon, which is no time\./],
      ['a time without end', { exp: 1e300 }, /Expires: 1e\+300, which is no time\./],
      ['a later start', { nbf: 32_503_680_000 }, /Not before: 3000-01-01T00:00:00.000Z \(/],
      ['what would steer a terminal', { sub: '\u001b[2Jx\u202e' }, /subject \?\[2Jx\?\./],
    ])('says what is wrong with %s', async (_, more, expected) => {
      const claims = { ...inAnHour(), prefix: '/streams', ...more };
      const { code, out } = await run(['inspect', await sign(claims)]);
      expect(code).toBe(0);
      expect(out).toMatch(expected);
    });

    it('explains a token of another signer, and one where no key is configured', async () => {
      const token = await sign({ ...inAnHour(), prefix: '/streams' }, 'x'.repeat(32));
      const signature =
        "refuses it: 401 invalid_credentials. The read token's signature is not valid here.\n";
      expect((await run(['inspect', token])).out).toContain(signature);
      expect((await run(['inspect', token], {})).out).toContain(
        'Neither GATEWAY_READ_TOKEN_SECRETS nor GATEWAY_READ_TOKEN_JWKS is set here.',
      );
    });

    it.each(['', 'nonsense', 'a.b', 'a.b.c', 'a.b.c.d.e'])(
      'says of %j that it is none',
      async (token) => {
        const { code, out, err } = await run(['inspect', token]);
        expect({ code, out }).toEqual({ code: 1, out: '' });
        expect(err).toMatch(/^agent-gateway: This is no read token: /);
      },
    );
  });

  describe('check', () => {
    it.each([
      ['/streams/t/acme/x', 0, /^yes: until 2\d{3}-.*Z\.\n$/],
      ['/streams/t/acme/x?offset=-1&live=sse', 0, /^yes: /],
      ['https://gateway.example:8787/streams/t/acme/x?offset=-1', 0, /^yes: /],
      ['/streams/t/acme2/x', 1, /^no: 403 prefix_not_covered\. No prefix of the read token covers/],
      ['/streams/t/acme/__ds/x', 1, /^no: 403 prefix_not_covered\. /],
      ['/streams/t/acme/../x', 1, /^no: 400 malformed_path\. The path holds a dot segment/],
      ['/api/spawn', 1, /^no: a read token opens paths below \/streams\/ and \/shapes\/ only\.\n$/],
      ['streams/t/acme/x', 1, /^no: a read token opens/],
      ['', 1, /^no: a read token opens/],
      ['/shapes/v1/shape?table=entities', 0, /^yes: /],
      ["/shapes/v1/shape?table=entities&where=id='?'", 0, /^yes: /],
      ['/shapes/v1/shape', 1, /^no: 403 table_not_allowed\. /],
      ['/shapes/v1/shape?table=secrets', 1, /^no: 403 table_not_allowed\. /],
      ['/shapes/v1/shape?table=entities&where=1)', 1, /^no: 400 invalid_where\. /],
      ['/shapes/v1/shape?table=entities&table=x', 1, /^no: 400 duplicate_parameter\. /],
      ['/shapes/v1/health', 1, /^no: 403 prefix_not_covered\. Under \/shapes/],
    ])('of %s is answered with code %d', async (path, code, out) => {
      const token = await mint('--prefix', '/streams/t/acme', '--prefix', '/shapes', '--ttl', '60');
      const result = await run(['check', token, path]);
      expect(result).toEqual({ code, out: expect.stringMatching(out), err: '' });
    });

    it('goes by the tables of the settings', async () => {
      const token = await mint('--prefix', '/shapes', '--ttl', '60');
      const path = '/shapes/v1/shape?table=notes';
      for (const [tables, code] of [
        ['notes, entities', 0],
        ['*', 0],
        ['entities', 1],
      ] as const) {
        const env = { ...SETTINGS, GATEWAY_SHAPES_TABLES: tables };
        expect(await run(['check', token, path], env)).toMatchObject({ code });
      }
    });

    it('says of what is no token that it is none', async () => {
      expect(await run(['check', 'nonsense', '/streams/x'])).toEqual({
        code: 1,
        out: 'no: 401 invalid_credentials. The credential is neither an API key nor a read token.\n',
        err: '',
      });
    });
  });
});
