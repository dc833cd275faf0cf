import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Credential, SessionEnded, type MintedToken } from './credential.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A credential whose callback is answered by the test. */
function callback() {
  const calls: PromiseWithResolvers<MintedToken>[] = [];
  const credential = new Credential({
    authCallback: () => {
      const call = Promise.withResolvers<MintedToken>();
      calls.push(call);
      return call.promise;
    },
  });
  return { calls, credential };
}

describe('a token from a callback', () => {
  it('is asked for once for all who wait, and again a little before its end', async () => {
    const { calls, credential } = callback();
    const both = Promise.all([credential.authorization(), credential.authorization()]);
    calls[0]?.resolve({ token: 'one', ttlSeconds: 300 });
    expect(await both).toEqual(['Bearer one', 'Bearer one']);
    jest.advanceTimersByTime(269_000);
    expect(await credential.authorization()).toBe('Bearer one');
    jest.advanceTimersByTime(2_000);
    const renewed = credential.authorization();
    calls[1]?.resolve({ token: 'two', ttlSeconds: 10 });
    expect(await renewed).toBe('Bearer two');
    // Half its life, where that is less.
    jest.advanceTimersByTime(4_900);
    expect(await credential.authorization()).toBe('Bearer two');
    expect(calls).toHaveLength(2);
  });

  it('is asked for again once it is refused, and not for one that was refused before', async () => {
    const { calls, credential } = callback();
    const first = credential.authorization();
    calls[0]?.resolve({ token: 'one', ttlSeconds: 300 });
    credential.refused(await first);
    const second = credential.authorization();
    calls[1]?.resolve({ token: 'two', ttlSeconds: 300 });
    await second;
    credential.refused('Bearer one');
    expect(await credential.authorization()).toBe('Bearer two');
    expect(calls).toHaveLength(2);
  });

  it('is asked for again after a callback that never answers, or answers nonsense', async () => {
    const { calls, credential } = callback();
    const hanging = credential.authorization();
    jest.advanceTimersByTime(20_000);
    await expect(hanging).rejects.toMatchObject({
      code: 'credential_unavailable',
      message: 'The credential is not available: authCallback did not answer in time',
    });
    const odd = credential.authorization();
    calls[1]?.resolve({ token: 'x' } as MintedToken);
    await expect(odd).rejects.toThrow('authCallback must answer {token, ttlSeconds}.');
    const good = credential.authorization();
    calls[2]?.resolve({ token: 'three', ttlSeconds: 1 });
    expect(await good).toBe('Bearer three');
  });
});

describe('a token that lives for a short time', () => {
  it('is warned of once', async () => {
    const said = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { calls, credential } = callback();
    for (const ttlSeconds of [5, 5, 300]) {
      const waiting = credential.authorization();
      calls.at(-1)?.resolve({ token: 'x', ttlSeconds });
      await waiting;
      jest.advanceTimersByTime(2_500);
    }
    expect(said.mock.calls).toEqual([[expect.stringContaining('a token that lives for 5 s')]]);
    said.mockRestore();
  });
});

describe('a token that is over when it comes', () => {
  // Every request asked for another one, and the catalog, which repeats its long-poll at the end of a token, did nothing else.
  it('is used for a quarter of a second', async () => {
    const said = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { calls, credential } = callback();
    const waiting = credential.authorization();
    jest.advanceTimersByTime(2_000);
    calls[0]?.resolve({ token: 'late', ttlSeconds: 1 });
    expect(await waiting).toBe('Bearer late');
    expect(credential.renewInMs).toBe(250);
    expect(await credential.authorization()).toBe('Bearer late');
    jest.advanceTimersByTime(250);
    const next = credential.authorization();
    calls[1]?.resolve({ token: 'next', ttlSeconds: 300 });
    expect(await next).toBe('Bearer next');
    expect(calls).toHaveLength(2);
    said.mockRestore();
  });
});

describe('a session that has ended', () => {
  it('is not asked for again', async () => {
    const { calls, credential } = callback();
    const waiting = credential.authorization();
    calls[0]?.reject(new SessionEnded());
    const ended = { code: 'session_ended', message: 'The session has ended.' };
    await expect(waiting).rejects.toMatchObject(ended);
    await expect(credential.authorization()).rejects.toMatchObject(ended);
    expect(calls).toHaveLength(1);
  });
});
