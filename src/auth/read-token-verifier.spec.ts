import {
  createHash,
  createHmac,
  generateKeyPairSync,
  sign as signRaw,
  type KeyObject,
} from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { CompactEncrypt, CompactSign, SignJWT, type CompactJWSHeaderParameters } from 'jose';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';
import { TokenKeySet } from './token-key-set.ts';
import { spellings, twinOf } from '../../test/support/token-spellings.ts';

const NOW_MS = 1_800_000_000_000;
const NOW = NOW_MS / 1000;
const RULES = { tenant: 'acme', maxTtlSeconds: 3_600, maxKnownTokens: 10 };
const CLAIMS = { aud: 'acme', iat: NOW - 10, exp: NOW + 600, prefix: '/streams/t/acme' };
const SECRET = Buffer.from('first-secret-0123456789-0123456789-ab');
const OLD_SECRET = Buffer.from('older-secret-0123456789-0123456789-ab');

const PAIRS = {
  EdDSA: generateKeyPairSync('ed25519'),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};
const PUBLIC_KEYS = Object.entries(PAIRS).map(([alg, { publicKey }]) => ({
  ...publicKey.export({ format: 'jwk' }),
  kid: alg,
}));
/** A set without any usable key is one that cannot be had. */
const OTHER_KEY = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const OCT_KEY = { kty: 'oct', k: SECRET.toString('base64url'), kid: 'oct', alg: 'HS256' };

function verifier(secrets: Buffer[], keys?: object[]): ReadTokenVerifier {
  const read = () => Promise.resolve(JSON.stringify({ keys }));
  const logger = { error: () => undefined, info: () => undefined };
  const keySet = keys && new TokenKeySet(read, logger);
  keySet?.start();
  return new ReadTokenVerifier({ entries: secrets, version: 0 }, keySet, RULES, () => NOW_MS);
}

function sign(
  alg: string,
  key: KeyObject | Buffer,
  header: object = {},
  claims: object = CLAIMS,
): Promise<string> {
  return new SignJWT({ ...claims }).setProtectedHeader({ alg, ...header }).sign(key);
}

const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A token as no library would write it. */
function handmade(header: unknown, payload: unknown, signature = 'c2lnbmF0dXJl'): string {
  return `${encoded(header)}.${encoded(payload)}.${signature}`;
}

/** The signature of the secret, in whatever header it is. */
function hmac(input: string): string {
  return createHmac('sha256', SECRET).update(input).digest('base64url');
}

async function codeOf(judge: ReadTokenVerifier, token: string): Promise<string> {
  try {
    await judge.verify(token);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // RFC 6750 §3: a client learns that its token is to blame.
    expect(error.headers).toEqual({ 'WWW-Authenticate': 'Bearer error="invalid_token"' });
    return error.code;
  }
  return 'accepted';
}

describe('ReadTokenVerifier', () => {
  describe('trusts a token', () => {
    it('until its secret is withdrawn', async () => {
      const list = { entries: [SECRET, OLD_SECRET], version: 0 };
      const judge = new ReadTokenVerifier(list, undefined, RULES, () => NOW_MS);
      const token = await judge.verify(await sign('HS256', OLD_SECRET));
      expect(judge.trusts(token)).toBe(true);
      list.entries = [SECRET];
      expect(judge.trusts(token)).toBe(false);
    });

    it.each(['EdDSA', 'ES256', 'RS256'] as const)('of the key set alone: %s', async (alg) => {
      const judge = verifier([SECRET], PUBLIC_KEYS);
      const { privateKey } = PAIRS[alg];
      const token = await judge.verify(await sign(alg, privateKey, { kid: alg }));
      expect(judge.trusts(token)).toBe(true);
      const others = verifier([SECRET], [OCT_KEY, OTHER_KEY]);
      await codeOf(others, await sign(alg, privateKey, { kid: alg }));
      expect(others.trusts(token)).toBe(false);
      expect(verifier([SECRET]).trusts(token)).toBe(false);
    });
  });

  // RFC 9864 deprecates the name EdDSA. A key with one name was no key for a token with the other.
  it.each(
    ['EdDSA', 'Ed25519'].flatMap((inToken) =>
      ['EdDSA', 'Ed25519', undefined].map((inKey) => [inToken, inKey] as const),
    ),
  )('takes a token with alg %s for a key with alg %s', async (inToken, inKey) => {
    const { privateKey, publicKey } = PAIRS.EdDSA;
    const jwk = { ...publicKey.export({ format: 'jwk' }), ...(inKey && { alg: inKey }), kid: 'k' };
    const judge = verifier([], [jwk]);
    const token = await judge.verify(await sign(inToken, privateKey, { kid: 'k' }));
    expect(judge.trusts(token)).toBe(true);
    const another = generateKeyPairSync('ed25519').privateKey;
    expect(await codeOf(judge, await sign(inToken, another, { kid: 'k' }))).toBe(
      'invalid_credentials',
    );
  });

  it('takes no token for a key whose alg is that of another kind', async () => {
    const { privateKey, publicKey } = PAIRS.EdDSA;
    const jwk = { ...publicKey.export({ format: 'jwk' }), alg: 'ES256' };
    const judge = verifier([], [jwk, PUBLIC_KEYS[1]!]);
    expect(await codeOf(judge, await sign('Ed25519', privateKey))).toBe('invalid_credentials');
  });

  describe('knows by its digest', () => {
    let nowMs = NOW_MS;
    const list = { entries: [SECRET], version: 0 };
    const judge = new ReadTokenVerifier(list, undefined, RULES, () => nowMs);
    const change = (entries: typeof list.entries): void => {
      list.entries = entries;
      list.version++;
    };

    it('no token that it has not verified', async () => {
      expect(judge.known('digest')).toBeUndefined();
      await judge
        .verify(await sign('HS256', SECRET, {}, { ...CLAIMS, exp: 1 }), 'digest')
        .catch(() => 0);
      await judge.verify(await sign('HS256', OLD_SECRET), 'digest').catch(() => 0);
      expect(judge.known('digest')).toBeUndefined();
    });

    it('one that it has, until it expires', async () => {
      const token = await judge.verify(await sign('HS256', SECRET), 'digest');
      expect(judge.known('digest')).toBe(token);
      nowMs = token.expiresAtSeconds * 1000 - 1;
      expect(judge.known('digest')).toBe(token);
      nowMs++;
      expect(judge.known('digest')).toBeUndefined();
      nowMs = NOW_MS;
      expect(judge.known('digest')).toBeUndefined();
    });

    it('none any more once the secrets are others', async () => {
      await judge.verify(await sign('HS256', SECRET), 'digest');
      change([OLD_SECRET]);
      expect(judge.known('digest')).toBeUndefined();
    });

    it('none any more once the key set is another', async () => {
      const keySet = { version: 0 };
      const keys = keySet as TokenKeySet;
      const secrets = { entries: [SECRET], version: 0 };
      const verifying = new ReadTokenVerifier(secrets, keys, RULES, () => NOW_MS);
      await verifying.verify(await sign('HS256', SECRET), 'digest');
      expect(verifying.known('digest')).toBeDefined();
      keySet.version++;
      expect(verifying.known('digest')).toBeUndefined();
    });

    it('none whose secrets changed while it was verified', async () => {
      change([SECRET]);
      const verified = judge.verify(await sign('HS256', SECRET), 'digest');
      change([OLD_SECRET]);
      await verified;
      expect(judge.known('digest')).toBeUndefined();
    });
  });

  describe('with shared secrets', () => {
    const both = verifier([SECRET, OLD_SECRET]);

    it('accepts a token of each of them', async () => {
      expect(await codeOf(both, await sign('HS256', SECRET))).toBe('accepted');
      expect(await codeOf(both, await sign('HS256', OLD_SECRET))).toBe('accepted');
    });

    it('refuses a token of a secret that was taken out', async () => {
      expect(await codeOf(verifier([SECRET]), await sign('HS256', OLD_SECRET))).toBe(
        'invalid_credentials',
      );
    });

    it('takes up a secret that comes into the list later', async () => {
      const list = { entries: [SECRET], version: 0 };
      const judge = new ReadTokenVerifier(list, undefined, RULES, () => NOW_MS);
      const token = await sign('HS256', OLD_SECRET);
      expect(await codeOf(judge, token)).toBe('invalid_credentials');
      list.entries = [SECRET, OLD_SECRET];
      expect(await codeOf(judge, token)).toBe('accepted');
    });

    it('accepts a token whatever kid and typ it names', async () => {
      const token = await sign('HS256', SECRET, { kid: '../../dev/null', typ: 'whatever' });
      expect(await codeOf(both, token)).toBe('accepted');
    });

    it.each(['HS384', 'HS512'])('refuses %s with the right secret', async (alg) => {
      const token = await sign(alg, Buffer.concat([SECRET, SECRET]));
      const judge = verifier([Buffer.concat([SECRET, SECRET])]);
      expect(await codeOf(judge, token)).toBe('invalid_credentials');
    });

    it('says of an expired token that it has expired, if the signature holds', async () => {
      const expired = { ...CLAIMS, exp: NOW - 1 };
      expect(await codeOf(both, await sign('HS256', SECRET, {}, expired))).toBe('token_expired');
      // Claims are not read before the signature: a forger learns nothing by them.
      const forged = await sign('HS256', Buffer.alloc(32, 'x'), {}, expired);
      expect(await codeOf(both, forged)).toBe('invalid_credentials');
    });

    it('refuses a token of which any one character is changed', async () => {
      const token = await sign('HS256', SECRET);
      for (let i = 0; i < token.length; i += 7) {
        const other = token[i] === 'A' ? 'B' : 'A';
        const changed = token.slice(0, i) + other + token.slice(i + 1);
        expect([i, await codeOf(both, changed)]).toEqual([i, 'invalid_credentials']);
      }
    });
  });

  describe('with a key set', () => {
    const judge = verifier([], [...PUBLIC_KEYS, OCT_KEY]);

    it.each(['EdDSA', 'ES256', 'RS256'] as const)(
      'accepts %s, with its kid and without',
      async (alg) => {
        const { privateKey } = PAIRS[alg];
        expect(await codeOf(judge, await sign(alg, privateKey, { kid: alg }))).toBe('accepted');
        expect(await codeOf(judge, await sign(alg, privateKey))).toBe('accepted');
      },
    );

    it('tries all keys of the kind for a token without kid', async () => {
      const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
      const keys = [{ ...other, kid: 'other' }, ...PUBLIC_KEYS];
      const token = await sign('EdDSA', PAIRS.EdDSA.privateKey);
      expect(await codeOf(verifier([], keys), token)).toBe('accepted');
      expect(await codeOf(verifier([], keys.slice(0, 1)), token)).toBe('invalid_credentials');
    });

    it('refuses a token under the kid of another key', async () => {
      const token = await sign('EdDSA', PAIRS.EdDSA.privateKey, { kid: 'ES256' });
      expect(await codeOf(judge, token)).toBe('invalid_credentials');
    });

    it.each([
      ['PS256', PAIRS.RS256.privateKey],
      ['RS512', PAIRS.RS256.privateKey],
    ])('refuses %s with a key of the set', async (alg, key) => {
      expect(await codeOf(judge, await sign(alg, key))).toBe('invalid_credentials');
    });

    it('never takes a symmetric key of the set for a secret', async () => {
      expect(await codeOf(judge, await sign('HS256', SECRET, { kid: 'oct' }))).toBe(
        'invalid_credentials',
      );
    });

    it.each([
      ['meant for encryption', { use: 'enc' }],
      ['meant for signing only', { key_ops: ['sign'] }],
      ['of another algorithm', { alg: 'ES384' }],
    ])('does not use a key %s', async (_, more) => {
      const keys = [{ ...PAIRS.ES256.publicKey.export({ format: 'jwk' }), ...more }, OTHER_KEY];
      const token = await sign('ES256', PAIRS.ES256.privateKey);
      expect(await codeOf(verifier([], keys), token)).toBe('invalid_credentials');
    });

    it('does not use an RSA key that is too short', async () => {
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
      const input = `${encoded({ alg: 'RS256' })}.${encoded(CLAIMS)}`;
      const signature = signRaw('sha256', Buffer.from(input), privateKey).toString('base64url');
      const keys = [publicKey.export({ format: 'jwk' })];
      expect(await codeOf(verifier([], keys), `${input}.${signature}`)).toBe('invalid_credentials');
    });
  });

  describe('whose kinds of key are mixed up on purpose', () => {
    const judge = verifier([SECRET], [...PUBLIC_KEYS, OCT_KEY]);

    it.each(['EdDSA', 'ES256', 'RS256'] as const)(
      'refuses HS256 signed with the public %s key, in any of its forms',
      async (alg) => {
        const { publicKey } = PAIRS[alg];
        const forms = [
          publicKey.export({ format: 'pem', type: 'spki' }).toString(),
          publicKey.export({ format: 'pem', type: 'spki' }).toString().trim(),
          publicKey.export({ format: 'der', type: 'spki' }),
          JSON.stringify(publicKey.export({ format: 'jwk' })),
          JSON.stringify(PUBLIC_KEYS.find(({ kid }) => kid === alg)),
          Buffer.from(String(publicKey.export({ format: 'jwk' }).x ?? 'AAAA'), 'base64url'),
        ];
        for (const form of forms) {
          for (const header of [{}, { kid: alg }]) {
            const input = new CompactSign(Buffer.from(JSON.stringify(CLAIMS)));
            input.setProtectedHeader({ alg: 'HS256', ...header });
            const token = await input.sign(new Uint8Array(Buffer.from(form)));
            expect(await codeOf(judge, token)).toBe('invalid_credentials');
          }
        }
      },
    );

    it('refuses a token under one kind of algorithm with the signature of another', async () => {
      const [, payload = '', signature = ''] = (await sign('HS256', SECRET)).split('.');
      for (const alg of ['EdDSA', 'ES256', 'RS256', 'none']) {
        const mixed = `${encoded({ alg })}.${payload}.${signature}`;
        expect(await codeOf(judge, mixed)).toBe('invalid_credentials');
      }
    });

    it('refuses HS256 where only a key set is configured, and EdDSA where only secrets are', async () => {
      const symmetric = await sign('HS256', SECRET);
      const asymmetric = await sign('EdDSA', PAIRS.EdDSA.privateKey);
      expect(await codeOf(verifier([], PUBLIC_KEYS), symmetric)).toBe('invalid_credentials');
      expect(await codeOf(verifier([SECRET]), asymmetric)).toBe('invalid_credentials');
    });

    it('refuses every token where nothing is configured', async () => {
      expect(await codeOf(verifier([]), await sign('HS256', SECRET))).toBe('invalid_credentials');
      const emptyKey = new CompactSign(Buffer.from(JSON.stringify(CLAIMS)));
      emptyKey.setProtectedHeader({ alg: 'HS256' });
      const token = await emptyKey.sign(new Uint8Array(32));
      expect(await codeOf(verifier([]), token)).toBe('invalid_credentials');
    });
  });

  // Each spelling of a signature had limits of its own: one token opened sixteen times as many reads.
  describe('given other spellings of one token', () => {
    const judge = verifier([SECRET], PUBLIC_KEYS);

    it.each(['HS256', 'EdDSA', 'ES256', 'RS256'] as const)(
      'refuses every one of an %s token that is not canonical base64url, in any part',
      async (alg) => {
        const key = alg === 'HS256' ? SECRET : PAIRS[alg].privateKey;
        let count = 0;
        // So that the last group of each part is once full, once of two bytes and once of one.
        for (const filling of ['', 'x', 'xx']) {
          const token = await sign(alg, key, { x: filling }, { ...CLAIMS, sub: filling });
          for (const spelling of spellings(token)) {
            count++;
            expect([spelling, await codeOf(judge, spelling)]).toEqual([
              spelling,
              'invalid_credentials',
            ]);
          }
          expect(await codeOf(judge, token)).toBe('accepted');
        }
        expect(count).toBeGreaterThanOrEqual(2 * (3 + 15));
      },
    );

    it('says what is wrong, before the signature is looked at', async () => {
      const [spelling = ''] = spellings(handmade({ alg: 'HS256' }, CLAIMS, 'c2ln-w'));
      await expect(judge.verify(spelling)).rejects.toMatchObject({
        code: 'invalid_credentials',
        message:
          'The read token is not valid here: each of its parts must be in canonical base64url.',
      });
    });

    it('counts the two signatures of an ES256 token as one credential', async () => {
      const token = await sign('ES256', PAIRS.ES256.privateKey);
      const one = await judge.verify(token);
      const twin = await judge.verify(twinOf(token));
      expect(twin).toEqual(one);
      const other = await judge.verify(
        await sign('ES256', PAIRS.ES256.privateKey, {}, { ...CLAIMS, iat: CLAIMS.iat - 1 }),
      );
      expect(other.caller).not.toEqual(one.caller);
    });
  });

  // The back end of a chat mints as many as its user asks for, and the limits counted each of them.
  describe('who is counted', () => {
    const judge = verifier([SECRET], PUBLIC_KEYS);
    const callerOf = async (claims: object, key: 'HS256' | 'ES256' = 'HS256') =>
      (
        await judge.verify(
          await sign(
            key,
            key === 'HS256' ? SECRET : PAIRS[key].privateKey,
            {},
            { ...CLAIMS, ...claims },
          ),
        )
      ).caller;

    it('is the subject of a token, whatever else it says and whoever signed it', async () => {
      const ada = await callerOf({ sub: 'ada' });
      expect(ada).toEqual({
        id: createHash('sha256').update('ada').digest('hex'),
        isSubject: true,
      });
      expect(await callerOf({ sub: 'ada', iat: CLAIMS.iat - 1 })).toEqual(ada);
      expect(await callerOf({ sub: 'ada' }, 'ES256')).toEqual(ada);
      expect(await callerOf({ sub: 'Ada' })).not.toEqual(ada);
    });

    it.each([
      ['without a subject', {}],
      ['with an empty one', { sub: '' }],
    ])('is the token %s', async (_, claims) => {
      const one = await callerOf({ sub: undefined, ...claims });
      expect(one.isSubject).toBe(false);
      expect(await callerOf({ sub: undefined, ...claims })).toEqual(one);
      expect(await callerOf({ sub: undefined, ...claims, iat: CLAIMS.iat - 1 })).not.toEqual(one);
    });
  });

  describe('given what is no token of its kind', () => {
    const judge = verifier([SECRET], PUBLIC_KEYS);
    let good: string;
    beforeAll(async () => (good = await sign('HS256', SECRET)));

    it.each([
      ['none', { alg: 'none' }],
      ['None', { alg: 'None' }],
      ['nOnE', { alg: 'nOnE' }],
      ['no algorithm', {}],
      ['an algorithm that is an array', { alg: ['HS256'] }],
      ['an algorithm in lower case', { alg: 'hs256' }],
      ['an algorithm with a space', { alg: 'HS256 ' }],
      ['a header that is an array', [{ alg: 'HS256' }]],
      ['a header that is null', 'null'],
      ['a header that is no JSON', 'HS256'],
    ])('refuses %s', async (_, header) => {
      expect(await codeOf(judge, handmade(header, CLAIMS))).toBe('invalid_credentials');
    });

    it('refuses none with an empty signature', async () => {
      expect(await codeOf(judge, handmade({ alg: 'none' }, CLAIMS, ''))).toBe(
        'invalid_credentials',
      );
    });

    it.each(['dir', 'A256KW'])('refuses a JWE (%s) with a key that it knows', async (alg) => {
      const encrypt = new CompactEncrypt(Buffer.from(JSON.stringify(CLAIMS)));
      encrypt.setProtectedHeader({ alg, enc: 'A256GCM' });
      const key = new Uint8Array(SECRET.subarray(0, 32));
      const judgeOfKey = verifier([SECRET.subarray(0, 32)]);
      expect(await codeOf(judgeOfKey, await encrypt.encrypt(key))).toBe('invalid_credentials');
    });

    it.each<[string, Partial<CompactJWSHeaderParameters>]>([
      ['an unknown one', { crit: ['exp'], exp: 1 }],
      ['an empty list', { crit: [] }],
      ['one that is not there', { crit: ['b64'] }],
    ])('refuses a critical header that it does not know: %s', async (_, header) => {
      const input = `${encoded({ alg: 'HS256', ...header })}.${encoded(CLAIMS)}`;
      expect(await codeOf(judge, `${input}.${hmac(input)}`)).toBe('invalid_credentials');
    });

    it('refuses an unencoded payload (RFC 7797)', async () => {
      const head = encoded({ alg: 'HS256', b64: false, crit: ['b64'] });
      for (const payload of [encoded(CLAIMS), JSON.stringify(CLAIMS), '']) {
        const input = `${head}.${payload}`;
        expect(await codeOf(judge, `${input}.${hmac(input)}`)).toBe('invalid_credentials');
      }
    });

    it.each(['null', '[]', '"x"', '1', '', '{', '{"exp":1}garbage', 'ÿ'])(
      'refuses the signed payload %j',
      async (payload) => {
        const input = new CompactSign(Buffer.from(payload, 'latin1'));
        input.setProtectedHeader({ alg: 'HS256' });
        expect(await codeOf(judge, await input.sign(SECRET))).toBe('invalid_credentials');
      },
    );

    it('refuses pieces, joins and other spellings of a good token', async () => {
      const [header, payload, signature] = good.split('.');
      const spellings = [
        '',
        '.',
        '..',
        'x',
        `${header}.${payload}`,
        `${header}.${payload}.`,
        `${header}..${signature}`,
        `.${payload}.${signature}`,
        `${good}.`,
        `${good}.${good}`,
        `${good}=`,
        `${header}=.${payload}.${signature}`,
        `${good}\n`,
        ` ${good}`,
        good.toUpperCase(),
        JSON.stringify({ payload, signatures: [{ protected: header, signature }] }),
      ];
      for (const spelling of spellings) {
        expect([spelling, await codeOf(judge, spelling)]).toEqual([
          spelling,
          'invalid_credentials',
        ]);
      }
    });
  });
});
