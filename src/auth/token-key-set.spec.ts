import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CompactSign } from 'jose';
import { until } from '../../test/support/until.ts';
import { TokenRefusal } from './read-token.ts';
import { KeysUnavailable, TokenKeySet } from './token-key-set.ts';
import { stateOf } from '../../test/support/state-of.ts';

const REFRESH_MS = 2_000;
const RETRY_MS = 5_000;

interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  jwk: object;
}

function signingKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid } };
}

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
  const isAvailable = (): boolean => stateOf(keySet, 'gateway_token_keys_available') === 1;

  const serve = (...keys: SigningKey[]): void => {
    served = () => Promise.resolve(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  };
  const fail = (): void => {
    served = () => Promise.reject(new Error('no connection'));
  };
  async function outcome(token: Promise<string>): Promise<string> {
    try {
      await keySet.verify(await token);
      return 'accepted';
    } catch (error) {
      if (error instanceof TokenRefusal) return error.reason;
      if (error instanceof KeysUnavailable) return 'unavailable';
      throw error;
    }
  }

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    reads = 0;
    logged = [];
    serve(first);
    const source = {
      read: () => {
        reads++;
        return served();
      },
      refreshMs: REFRESH_MS,
      retryMs: RETRY_MS,
    };
    const log = (level: string) => (_: unknown, message?: string) =>
      void logged.push(`${level}: ${message ?? String(_)}`);
    const logger = { error: log('error'), info: log('info') };
    keySet = new TokenKeySet(source, logger as never);
  });
  afterEach(() => {
    keySet.onModuleDestroy();
    jest.useRealTimers();
  });

  it('is read once for any number of tokens', async () => {
    const outcomes = Array.from({ length: 50 }, () => outcome(sign(first, 'first')));
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['accepted']));
    expect(reads).toBe(1);
  });

  // Nobody has started its periodic reads, so only tokens have it read.
  it('is read at once for an unknown kid when a read is due, and knows the new key', async () => {
    expect(await outcome(sign(first, 'first'))).toBe('accepted');
    serve(first, second);
    await jest.advanceTimersByTimeAsync(REFRESH_MS - 1);
    expect(await outcome(sign(second, 'second'))).toBe('signature');
    await jest.advanceTimersByTimeAsync(1);
    expect(await outcome(sign(second, 'second'))).toBe('accepted');
    expect(await outcome(sign(first, 'first'))).toBe('accepted');
    expect(reads).toBe(2);
  });

  it('is read again for a token without kid, or of a key that was replaced under its kid', async () => {
    expect(await outcome(sign(first, 'first'))).toBe('accepted');
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
    await keySet.start();
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
    expect(logged).toEqual(['info: the JWK set is loaded', 'info: the JWK set is loaded']);
  });

  it('knows a new key within 45 s, though forged kids come all the time', async () => {
    await keySet.start();
    let accepted = 0;
    serve(second);
    for (let ms = 0; ms < 45_000 && accepted === 0; ms += 500) {
      await outcome(sign(first, `forged-${ms}`));
      if ((await outcome(sign(second, 'second'))) === 'accepted') accepted = ms;
      await jest.advanceTimersByTimeAsync(500);
    }
    expect(accepted).toBe(REFRESH_MS);
  });

  it('is read no more often, whatever kids are forged', async () => {
    await keySet.start();
    for (let ms = 0; ms < 60_000; ms += 100) {
      expect(await outcome(sign(first, `forged-${ms}`))).toBe('signature');
      await jest.advanceTimersByTimeAsync(100);
    }
    expect(reads).toBeLessThanOrEqual(1 + 60_000 / REFRESH_MS);
    expect(reads).toBeGreaterThan(5);
  });

  // It was refreshed by the next token only, which a withdrawn key had then already let in.
  it('refuses a withdrawn key after a while in which no token came', async () => {
    await keySet.start();
    const { version } = keySet;
    serve(second);
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
    await until('the second key', () => keySet.version !== version);
    expect(await outcome(sign(first, 'first'))).toBe('signature');
  });

  // The next read came a second late.
  it('is read in time although a timer ends a little early', async () => {
    const source = {
      read: () => served().finally(() => reads++),
      refreshMs: 3_000,
      retryMs: 3_000,
    };
    const logger = { error: jest.fn(), info: jest.fn() };
    keySet = new TokenKeySet(source, logger, () => performance.now() * 0.9995);
    await keySet.start();
    await jest.advanceTimersByTimeAsync(3_100);
    expect(reads).toBe(2);
  });

  it('is read in time although a token had it read shortly before', async () => {
    await outcome(sign(first, 'first'));
    await jest.advanceTimersByTimeAsync(500);
    await keySet.start();
    expect(reads).toBe(1);
    await jest.advanceTimersByTimeAsync(REFRESH_MS - 500);
    expect(reads).toBe(2);
  });

  // The time to the next read was negative, which Node reports on the standard error of the process.
  it('is read again half a second after a read that took longer than the time between two', async () => {
    const set = await served();
    served = () => new Promise((resolve) => setTimeout(() => resolve(set), REFRESH_MS + 300));
    const started = keySet.start();
    await jest.advanceTimersByTimeAsync(REFRESH_MS + 300);
    await started;
    await jest.advanceTimersByTimeAsync(499);
    expect(reads).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(reads).toBe(2);
  });

  // No token of a new key was accepted until the clock had come to where it was.
  it('is read again after somebody has set the clock back', async () => {
    await keySet.start();
    jest.setSystemTime(Date.now() - 3_600_000);
    serve(first, second);
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
    expect(await outcome(sign(second, 'second'))).toBe('accepted');
  });

  it('is not read any more once it is stopped', async () => {
    await keySet.start();
    keySet.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(10 * REFRESH_MS);
    expect(reads).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  describe('that cannot be had', () => {
    it('leaves a token unjudged as long as it was never had', async () => {
      fail();
      await keySet.start();
      expect(await outcome(sign(first, 'first'))).toBe('unavailable');
      serve(first);
      await jest.advanceTimersByTimeAsync(RETRY_MS);
      expect(await outcome(sign(first, 'first'))).toBe('accepted');
    });

    it('keeps the keys that it had, however long, and leaves those of other kids unjudged', async () => {
      await keySet.start();
      fail();
      await jest.advanceTimersByTimeAsync(86_400_000);
      expect(await outcome(sign(first, 'first'))).toBe('accepted');
      expect(await outcome(sign(second, 'first'))).toBe('signature');
      expect(await outcome(sign(second, 'second'))).toBe('unavailable');
    });

    // It got a 401, for which a client stops for good, though its key may be one not seen yet.
    it('leaves a token without kid unjudged that fits no key it had', async () => {
      await keySet.start();
      fail();
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      expect(await outcome(sign(first))).toBe('accepted');
      expect(await outcome(sign(second))).toBe('unavailable');
    });

    it('refuses again what it left unjudged, once it can be had', async () => {
      await keySet.start();
      fail();
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      expect(await outcome(sign(second, 'second'))).toBe('unavailable');
      serve(first);
      await jest.advanceTimersByTimeAsync(RETRY_MS);
      expect(await outcome(sign(second, 'second'))).toBe('signature');
    });

    it('says so once, not at every attempt', async () => {
      await keySet.start();
      fail();
      await jest.advanceTimersByTimeAsync(100_000);
      // The first one, two that failed, and then one every five seconds.
      expect(reads).toBe(3 + Math.floor((100_000 - 2 * REFRESH_MS) / RETRY_MS));
      serve(first);
      await jest.advanceTimersByTimeAsync(RETRY_MS);
      await until('the third line', () => logged.length === 3);
      expect(logged).toEqual([
        'info: the JWK set is loaded',
        'error: the JWK set cannot be read; the keys in use are kept',
        'info: the JWK set can be read again',
      ]);
    });

    it('holds up no token of a known key while an attempt hangs', async () => {
      await keySet.start();
      served = () => new Promise(() => undefined);
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      expect(reads).toBe(2);
      expect(await outcome(sign(first, 'first'))).toBe('accepted');
    });

    // A file on a network file system that was gone: every token with a new key waited for good.
    it('holds up a token of an unknown key for four seconds, and the next ones not at all', async () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const set = await served();
      served = () => promise;
      let waiting: string | undefined;
      const waits = outcome(sign(first, 'first')).then((result) => (waiting = result));
      await until('the set is asked for', () => reads === 1);
      await jest.advanceTimersByTimeAsync(3_999);
      expect([waiting, isAvailable(), logged]).toEqual([undefined, false, []]);
      await jest.advanceTimersByTimeAsync(1);
      await waits;
      expect([waiting, await outcome(sign(first, 'first'))]).toEqual([
        'unavailable',
        'unavailable',
      ]);
      await keySet.start();
      await jest.advanceTimersByTimeAsync(40_000);
      // Another read would hold another thread.
      expect(reads).toBe(1);
      expect(logged).toEqual(['error: the JWK set cannot be read; the keys in use are kept']);
      resolve(set);
      await until('the set is read', () => isAvailable());
      expect(await outcome(sign(first, 'first'))).toBe('accepted');
    });

    it('is read again in its time after one that hung', async () => {
      await keySet.start();
      const { promise, reject } = Promise.withResolvers<string>();
      served = () => promise;
      await jest.advanceTimersByTimeAsync(REFRESH_MS + 4_000);
      expect([isAvailable(), reads]).toEqual([false, 2]);
      reject(new Error('stale file handle'));
      serve(second);
      await jest.advanceTimersByTimeAsync(RETRY_MS);
      await until('the set is read', () => isAvailable());
      expect(await outcome(sign(first, 'first'))).toBe('signature');
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
      await keySet.start();
      served = () => Promise.resolve(text);
      const { version } = keySet;
      await jest.advanceTimersByTimeAsync(REFRESH_MS);
      await until('the set is read', () => !isAvailable());
      expect(await outcome(sign(first, 'first'))).toBe('accepted');
      expect(await outcome(sign(second, 'second'))).toBe('unavailable');
      const { signedBy } = await keySet.verify(await sign(first, 'first'));
      expect([keySet.holds(signedBy), keySet.version]).toEqual([true, version]);
    });
  });

  it('does not stumble over a key of it that is of no use', async () => {
    const useless = [{ kty: 'OKP', crv: 'Ed25519', x: '!' }, { kty: 'new-kind' }, {}];
    served = () => Promise.resolve(JSON.stringify({ keys: [...useless, first.jwk] }));
    expect(await outcome(sign(first))).toBe('accepted');
    expect(await outcome(sign(first, 'first'))).toBe('accepted');
  });

  it('does not take a private key for a public one', async () => {
    const jwk = { ...first.privateKey.export({ format: 'jwk' }), kid: 'first' };
    served = () => Promise.resolve(JSON.stringify({ keys: [jwk, second.jwk] }));
    expect(await outcome(sign(first, 'first'))).toBe('signature');
    expect(await outcome(sign(second, 'second'))).toBe('accepted');
  });
});
