import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CompactSign } from 'jose';
import { until } from '../../test/support/until.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { orderedJwkSet } from './jwk-set.ts';
import { ReadTokenVerifier } from './read-token-verifier.ts';
import { TokenKeySet } from './token-key-set.ts';
import { stateOf } from '../../test/support/state-of.ts';

/** A withdrawn key ends the reads that it opened within 5 s. */
const REFRESH_MS = 2_000;
const RULES = { tenant: 'acme', maxTtlSeconds: 3_600, maxKnownTokens: 1 };

interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  jwk: object;
}

function signingKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid } };
}

/** It has no claims: what is wrong with those shows that its signature was accepted. */
function sign({ privateKey }: SigningKey, kid?: string): Promise<string> {
  return new CompactSign(Buffer.from('{}'))
    .setProtectedHeader({ alg: 'EdDSA', ...(kid !== undefined && { kid }) })
    .sign(privateKey);
}

describe('TokenKeySet', () => {
  const first = signingKey('first');
  const second = signingKey('second');
  let reads: number;
  /** What the source gives: a set, or anything else as text; a function may fail or wait. */
  let served: () => Promise<string>;
  let logged: string[];
  let keySet: TokenKeySet;
  let verifier: ReadTokenVerifier;
  const isAvailable = (): boolean => stateOf(keySet, 'gateway_token_keys_available') === 1;

  const serve = (...keys: SigningKey[]): void => {
    served = () => Promise.resolve(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  };
  const fail = (): void => {
    served = () => Promise.reject(Object.assign(new Error('no connection'), { code: 'EGONE' }));
  };
  const start = async (): Promise<void> => {
    keySet.start();
    await keySet.nextRead;
  };
  async function outcome(token: Promise<string>): Promise<unknown> {
    const error: unknown = await verifier.verify(await token).catch((refusal: unknown) => refusal);
    if (!(error instanceof GatewayError)) throw error;
    if (error.code === 'keys_unavailable') return 'unavailable';
    return error.reason === 'claims' ? 'accepted' : error.reason;
  }

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    reads = 0;
    logged = [];
    serve(first);
    const read = async () => {
      reads++;
      return orderedJwkSet(await served());
    };
    const log = (level: string) => (_: unknown, message?: string) =>
      void logged.push(`${level}: ${message ?? String(_)}`);
    keySet = new TokenKeySet(read, { error: log('error'), info: log('info') } as never);
    verifier = new ReadTokenVerifier({ entries: [], version: 0 }, keySet, RULES);
  });
  afterEach(() => {
    keySet.stop();
    jest.useRealTimers();
  });

  it('is read once for any number of tokens that come at the start', async () => {
    keySet.start();
    const outcomes = Array.from({ length: 50 }, () => outcome(sign(first, 'first')));
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['accepted']));
    expect(reads).toBe(1);
  });

  it('knows a new key with the next read, and a token waits for one that is under way', async () => {
    await start();
    expect(await outcome(sign(first, 'first'))).toBe('accepted');
    const { promise, resolve } = Promise.withResolvers<string>();
    served = () => promise;
    expect(await outcome(sign(second, 'second'))).toBe('signature');
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
    const waits = outcome(sign(second, 'second'));
    resolve(JSON.stringify({ keys: [first.jwk, second.jwk] }));
    expect(await waits).toBe('accepted');
    expect(await outcome(sign(first, 'first'))).toBe('accepted');
    expect(reads).toBe(2);
  });

  it('knows a key for a token without kid, and one that was replaced under its kid', async () => {
    await start();
    serve(second);
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
    expect(await outcome(sign(second))).toBe('accepted');
    serve({ ...first, jwk: { ...first.jwk, kid: 'second' } });
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
    expect(await outcome(sign(first, 'second'))).toBe('accepted');
  });

  // Every token was verified anew, and every open read looked at.
  it('has changed only if a key has, in whatever order they are written', async () => {
    serve(first, second);
    await start();
    const { version } = keySet;
    const reversed = Object.fromEntries(Object.entries(first.jwk).reverse());
    served = () => Promise.resolve(JSON.stringify({ keys: [second.jwk, reversed] }, null, 2));
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
    await until('the second read', () => reads === 2);
    expect(await outcome(sign(first, 'first'))).toBe('accepted');
    expect(keySet.version).toBe(version);
    served = () =>
      Promise.resolve(JSON.stringify({ keys: [{ ...first.jwk, use: 'enc' }, second.jwk] }));
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
    await until('the change', () => keySet.version !== version);
    expect(logged).toEqual(['info: secrets reloaded', 'info: secrets reloaded']);
  });

  it('is read no more often, whatever kids are forged', async () => {
    await start();
    for (let ms = 0; ms < 60_000; ms += 100) {
      expect(await outcome(sign(first, `forged-${ms}`))).toBe('signature');
      await jest.advanceTimersByTimeAsync(100);
    }
    expect(reads).toBe(1 + 60_000 / REFRESH_MS);
  });

  // It was refreshed by the next token only, which a withdrawn key had then already let in.
  it('refuses a withdrawn key after a while in which no token came', async () => {
    await start();
    serve(second);
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
    await until('the second key', () => keySet.version === 2);
    expect(await outcome(sign(first, 'first'))).toBe('signature');
  });

  it('is not read a second time while a read takes longer than the time between two', async () => {
    const set = await served();
    served = () => new Promise((resolve) => setTimeout(() => resolve(set), REFRESH_MS + 300));
    const started = start();
    await jest.advanceTimersByTimeAsync(REFRESH_MS + 300);
    await started;
    expect(reads).toBe(1);
    await jest.advanceTimersByTimeAsync(REFRESH_MS - 300);
    expect(reads).toBe(2);
  });

  // No token of a new key was accepted until the clock had come to where it was.
  it('is read again after somebody has set the clock back', async () => {
    await start();
    jest.setSystemTime(Date.now() - 3_600_000);
    serve(first, second);
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
    expect(await outcome(sign(second, 'second'))).toBe('accepted');
  });

  it.each(['after a read', 'in the middle of one'])(
    'is not read any more once it is stopped %s',
    async (when) => {
      if (when === 'after a read') await start();
      else keySet.start();
      keySet.stop();
      await jest.advanceTimersByTimeAsync(10 * REFRESH_MS);
      expect(reads).toBe(1);
    },
  );

  describe('that cannot be had', () => {
    it('leaves a token unjudged as long as it was never had', async () => {
      fail();
      await start();
      expect(await outcome(sign(first, 'first'))).toBe('unavailable');
      serve(first);
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      expect(await outcome(sign(first, 'first'))).toBe('accepted');
    });

    it('keeps the keys that it had, however long, and leaves those of other kids unjudged', async () => {
      await start();
      fail();
      await jest.advanceTimersByTimeAsync(3_600_000);
      expect(await outcome(sign(first, 'first'))).toBe('accepted');
      expect(await outcome(sign(second, 'first'))).toBe('signature');
      expect(await outcome(sign(second, 'second'))).toBe('unavailable');
    });

    // It got a 401, for which a client stops for good, though its key may be one not seen yet.
    it('leaves a token without kid unjudged that fits no key it had', async () => {
      await start();
      fail();
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      expect(await outcome(sign(first))).toBe('accepted');
      expect(await outcome(sign(second))).toBe('unavailable');
    });

    it('refuses again what it left unjudged, once it can be had', async () => {
      await start();
      fail();
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      expect(await outcome(sign(second, 'second'))).toBe('unavailable');
      serve(first);
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      expect(await outcome(sign(second, 'second'))).toBe('signature');
    });

    // Every token was verified anew whenever its server had failed once.
    it('has not changed when it is there again as it was', async () => {
      await start();
      const { version } = keySet;
      fail();
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      expect(keySet.isGood).toBe(false);
      serve(first);
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      await until('the set', () => keySet.isGood);
      expect(keySet.version).toBe(version);
    });

    it('says so once, not at every attempt', async () => {
      await start();
      fail();
      await jest.advanceTimersByTimeAsync(100_000);
      expect(reads).toBe(1 + 100_000 / REFRESH_MS);
      serve(first);
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      await until('the third line', () => logged.length === 3);
      expect(logged).toEqual([
        'info: secrets reloaded',
        'error: GATEWAY_READ_TOKEN_JWKS cannot be read (EGONE); the list in use is kept',
        'info: secrets reloaded',
      ]);
    });

    it('holds up no token of a known key while an attempt hangs', async () => {
      await start();
      served = () => new Promise(() => undefined);
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      expect(reads).toBe(2);
      expect(await outcome(sign(first, 'first'))).toBe('accepted');
    });

    // A file on a network file system that was gone: every token with a new key waited for good.
    it('holds up a token of an unknown key for a while only, and the next ones not at all', async () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const set = await served();
      served = () => promise;
      keySet.start();
      const waits = outcome(sign(first, 'first'));
      await until('the set is asked for', () => reads === 1);
      await jest.advanceTimersByTimeAsync(60_000);
      expect([await waits, await outcome(sign(first, 'first'))]).toEqual([
        'unavailable',
        'unavailable',
      ]);
      // Another read would hold another thread.
      expect(reads).toBe(1);
      expect(logged).toEqual([
        'error: GATEWAY_READ_TOKEN_JWKS cannot be read in 4000 ms; the list in use is kept',
      ]);
      resolve(set);
      await until('the set is read', () => isAvailable());
      expect(await outcome(sign(first, 'first'))).toBe('accepted');
    });

    it.each([
      '',
      'null',
      '{',
      '[]',
      '{}',
      '{"keys":{}}',
      '{"keys":["x"]}',
      '{"keys":[null]}',
      '<html></html>',
      // A server that had lost its keys for a moment ended every read that they had opened.
      '{"keys":[]}',
      '{"keys":[{}]}',
      '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"!"}]}',
      '{"keys":[{"kty":"oct","k":"AAAA"}]}',
    ])('counts as such when it is %j', async (text) => {
      await start();
      served = () => Promise.resolve(text);
      const { version } = keySet;
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      await until('the set is read', () => !isAvailable());
      expect(await outcome(sign(first, 'first'))).toBe('accepted');
      expect(await outcome(sign(second, 'second'))).toBe('unavailable');
      expect(keySet.version).toBe(version);
    });
  });

  it('does not stumble over a key of it that is of no use', async () => {
    const useless = [{ kty: 'OKP', crv: 'Ed25519', x: '!' }, { kty: 'new-kind' }, {}];
    served = () => Promise.resolve(JSON.stringify({ keys: [...useless, first.jwk] }));
    await start();
    expect(await outcome(sign(first))).toBe('accepted');
    expect(await outcome(sign(first, 'first'))).toBe('accepted');
  });

  it('does not take a private key for a public one', async () => {
    const jwk = { ...first.privateKey.export({ format: 'jwk' }), kid: 'first' };
    served = () => Promise.resolve(JSON.stringify({ keys: [jwk, second.jwk] }));
    await start();
    expect(await outcome(sign(first, 'first'))).toBe('signature');
    expect(await outcome(sign(second, 'second'))).toBe('accepted');
  });
});
