import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { LookupTimeout, NameResolver } from './name-resolver.ts';

/** A look-up whose answers the test gives. */
class Lookups {
  readonly asked: { name: string; signal: AbortSignal; answer: PromiseWithResolvers<string[]> }[] =
    [];

  readonly find = (name: string, signal: AbortSignal): Promise<string[]> => {
    const answer = Promise.withResolvers<string[]>();
    signal.addEventListener('abort', () => answer.reject(signal.reason as Error));
    this.asked.push({ name, signal, answer });
    return answer.promise;
  };
}

/** More than any look-up here takes. */
const LONG_MS = 60_000;

describe('NameResolver', () => {
  it('asks once for a name, for all who wait', async () => {
    const lookups = new Lookups();
    const names = new NameResolver(LONG_MS, lookups.find);
    const all = [names.addressesOf('a'), names.addressesOf('a'), names.addressesOf('b')];
    expect(lookups.asked.map(({ name }) => name)).toEqual(['a', 'b']);
    lookups.asked[0]?.answer.resolve(['10.0.0.1', '::1']);
    lookups.asked[1]?.answer.resolve(['10.0.0.2']);
    expect(await Promise.all(all)).toEqual([
      ['10.0.0.1', '::1'],
      ['10.0.0.1', '::1'],
      ['10.0.0.2'],
    ]);
  });

  it('does not let a name wait for one that is never answered', async () => {
    const lookups = new Lookups();
    const names = new NameResolver(LONG_MS, lookups.find);
    for (let i = 0; i < 20; i++) void names.addressesOf(`silent-${i}`).catch(() => {});
    const well = names.addressesOf('well');
    lookups.asked.at(-1)?.answer.resolve(['10.0.0.1']);
    expect(await well).toEqual(['10.0.0.1']);
  });

  it('gives up after its time, and asks again for the next one', async () => {
    const lookups = new Lookups();
    const names = new NameResolver(1, lookups.find);
    await expect(names.addressesOf('silent')).rejects.toEqual(new LookupTimeout('silent', 1));
    expect(lookups.asked[0]?.signal.aborted).toBe(true);
    const again = names.addressesOf('silent');
    expect(lookups.asked).toHaveLength(2);
    lookups.asked[1]?.answer.resolve(['10.0.0.1']);
    expect(await again).toEqual(['10.0.0.1']);
  });

  it('serves the last addresses while a new look-up is under way, and after it failed', async () => {
    const lookups = new Lookups();
    let nowMs = 0;
    const names = new NameResolver(LONG_MS, lookups.find, () => nowMs);
    const first = names.addressesOf('a');
    lookups.asked[0]?.answer.resolve(['10.0.0.1']);
    await first;
    expect(await names.addressesOf('a')).toEqual(['10.0.0.1']);
    expect(lookups.asked).toHaveLength(1);

    nowMs = 1_000;
    expect(await names.addressesOf('a')).toEqual(['10.0.0.1']);
    expect(await names.addressesOf('a')).toEqual(['10.0.0.1']);
    expect(lookups.asked).toHaveLength(2);
    lookups.asked[1]?.answer.reject(new Error('SERVFAIL'));
    await lookups.asked[1]?.answer.promise.catch(() => {});
    expect(await names.addressesOf('a')).toEqual(['10.0.0.1']);

    lookups.asked[2]?.answer.resolve(['10.0.0.7']);
    await lookups.asked[2]?.answer.promise;
    expect(await names.addressesOf('a')).toEqual(['10.0.0.7']);
    expect(lookups.asked).toHaveLength(3);
  });

  it('passes for the look-up of Node', async () => {
    const names = new NameResolver(LONG_MS, () => Promise.resolve(['10.0.0.1', '::1']));
    const lookup = promisify(names.lookup as never) as (
      name: string,
      options: object,
    ) => Promise<unknown>;
    expect(await lookup('a', { all: true })).toEqual([
      { address: '10.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(await lookup('a', {})).toBe('10.0.0.1');
    const missing = new NameResolver(LONG_MS, () => Promise.reject(new Error('gone')));
    await expect((promisify(missing.lookup as never) as typeof lookup)('a', {})).rejects.toThrow(
      'gone',
    );
  });
});
