import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { promisify } from 'node:util';
import { fakeTime, pass } from '../../../test/support/fake-time.ts';
import { LookupTimeout, lookupOf, NameResolver } from './name-resolver.ts';
import { NameNotFound } from './system-lookup.ts';

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
const LONG_MS = 3_600_000;
const OLD = ['10.0.0.1'];
const NEW = ['10.0.0.7'];
const SERVFAIL = failedWith('ESERVFAIL');
const GONE = failedWith('ENOTFOUND', 'ENODATA');

function failedWith(...codes: string[]): NameNotFound {
  return new NameNotFound(
    'a',
    codes.map((code) => Object.assign(new Error(code), { code })),
  );
}

describe('NameResolver', () => {
  let lookups: Lookups;
  let names: NameResolver;

  beforeEach(() => {
    fakeTime();
    lookups = new Lookups();
    names = new NameResolver(LONG_MS, lookups.find);
  });
  afterEach(() => void jest.useRealTimers());

  const asked = (): number => lookups.asked.length;
  /** The last look-up ends. */
  async function answer(found: string[] | Error): Promise<void> {
    const last = lookups.asked.at(-1)?.answer;
    if (found instanceof Error) last?.reject(found);
    else last?.resolve(found);
    await pass(0);
  }
  /** The name is found now, and not asked for during the time that follows. */
  async function foundAgo(ms: number): Promise<void> {
    const first = names.addressesOf('a');
    await answer(OLD);
    expect(await first).toEqual(OLD);
    await pass(ms);
  }

  it('asks once for a name, for all who wait', async () => {
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
    for (let i = 0; i < 20; i++) void names.addressesOf(`silent-${i}`);
    const well = names.addressesOf('well');
    await answer(OLD);
    expect(await well).toEqual(OLD);
  });

  it('gives up after its time, and asks again for the next one', async () => {
    names = new NameResolver(100, lookups.find);
    const silent = expect(names.addressesOf('silent')).rejects.toEqual(
      new LookupTimeout('silent', 100),
    );
    await pass(100);
    await silent;
    expect(lookups.asked[0]?.signal.aborted).toBe(true);
    const again = names.addressesOf('silent');
    await answer(OLD);
    expect(await again).toEqual(OLD);
    expect(asked()).toBe(2);
  });

  it('looks a name up again after a second, for which nobody waits', async () => {
    await foundAgo(999);
    expect(await names.addressesOf('a')).toEqual(OLD);
    expect(asked()).toBe(1);
    await pass(1);
    expect(await names.addressesOf('a')).toEqual(OLD);
    expect(await names.addressesOf('a')).toEqual(OLD);
    expect(asked()).toBe(2);
    await answer(NEW);
    expect(await names.addressesOf('a')).toEqual(NEW);
    expect(asked()).toBe(2);
  });

  it('serves the last addresses after a look-up that failed, and asks again', async () => {
    await foundAgo(1_000);
    expect(await names.addressesOf('a')).toEqual(OLD);
    await answer(SERVFAIL);
    expect(await names.addressesOf('a')).toEqual(OLD);
    expect(asked()).toBe(3);
  });

  // After a quiet hour the first command went, with both tokens, to a stranger at the old address.
  describe('of a name that nobody has used for a while', () => {
    /** What came of a request, as soon as it is known. */
    function request(): { outcome: unknown } {
      const request: { outcome: unknown } = { outcome: 'waits' };
      const note = (outcome: unknown): void => void (request.outcome = outcome);
      void names.addressesOf('a').then(note, note);
      return request;
    }

    it('does not wait up to 5 s after its last answer', async () => {
      await foundAgo(5_000);
      const waiting = request();
      await pass(0);
      expect([waiting.outcome, asked()]).toEqual([OLD, 2]);
    });

    it('waits 200 ms for the look-up from then on, and uses the old addresses then', async () => {
      await foundAgo(5_001);
      const waiting = request();
      await pass(199);
      expect(waiting.outcome).toBe('waits');
      await pass(1);
      expect(waiting.outcome).toEqual(OLD);
    });

    it.each<[string, string[] | Error, unknown]>([
      ['finds others', NEW, NEW],
      ['fails', SERVFAIL, OLD],
      ['says that the name is gone', GONE, OLD],
    ])('waits no longer than a look-up that %s', async (_, found, expected) => {
      await foundAgo(5_001);
      const waiting = request();
      await answer(found);
      expect(waiting.outcome).toEqual(expected);
    });

    it.each<[string, number, Error, unknown]>([
      ['serves, after a failure, for 10 minutes', 600_000, SERVFAIL, OLD],
      ['fails with the look-up then', 600_001, SERVFAIL, SERVFAIL],
      ['serves, if DNS says that it is gone, for a minute', 60_000, GONE, OLD],
      ['fails with the look-up then, if DNS says so', 60_001, GONE, GONE],
    ])('%s', async (_, ms, failure, expected) => {
      await foundAgo(ms);
      const waiting = request();
      await answer(failure);
      expect(waiting.outcome).toBe(expected);
    });

    it('is used after 10 minutes only if the look-up finds it, however long that takes', async () => {
      await foundAgo(600_001);
      const waiting = request();
      await pass(1_000);
      expect(waiting.outcome).toBe('waits');
      await answer(NEW);
      expect(waiting.outcome).toEqual(NEW);
    });

    it('stays gone when the next look-up only fails, until it is found again', async () => {
      await foundAgo(50_000);
      for (const [ms, failure, expected] of [
        [0, GONE, OLD],
        [10_000, SERVFAIL, OLD],
        [1, SERVFAIL, SERVFAIL],
        [1, NEW, NEW],
        [60_001, SERVFAIL, NEW],
      ] as const) {
        await pass(ms);
        const waiting = request();
        await answer(failure as string[] | Error);
        expect(waiting.outcome).toBe(expected);
      }
    });
  });

  describe('told that no connection could be opened', () => {
    it('looks the name up at once, also if its addresses are fresh', async () => {
      await foundAgo(100);
      names.connectFailed('a');
      expect(asked()).toBe(2);
      expect(await names.addressesOf('a')).toEqual(OLD);
      await answer(NEW);
      expect(await names.addressesOf('a')).toEqual(NEW);
    });

    it('does so every 100 ms at most, and never twice at a time', async () => {
      await foundAgo(99);
      names.connectFailed('a');
      expect(asked()).toBe(1);
      await pass(1);
      names.connectFailed('a');
      await pass(100);
      names.connectFailed('a');
      expect(asked()).toBe(2);
      await answer(SERVFAIL);
      names.connectFailed('a');
      expect(asked()).toBe(3);
    });

    it('asks for no name that nobody has used', () => {
      names.connectFailed('a');
      expect(asked()).toBe(0);
    });
  });
});

describe('NameNotFound', () => {
  it.each([
    [['ENOTFOUND'], true],
    [['ENOTFOUND', 'ENODATA'], true],
    [['ENOTFOUND', 'ESERVFAIL'], false],
    [['ETIMEOUT', 'ENODATA'], false],
  ])('of %j says of the name that it is gone: %s', (codes, isGone) => {
    expect(failedWith(...codes).isGone).toBe(isGone);
  });
});

describe('lookupOf', () => {
  it('passes for the look-up of Node', async () => {
    type Lookup = (name: string, options: object) => Promise<unknown>;
    const lookup = promisify(
      lookupOf(() => Promise.resolve(['10.0.0.1', '::1'])) as never,
    ) as Lookup;
    expect(await lookup('a', { all: true })).toEqual([
      { address: '10.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(await lookup('a', {})).toBe('10.0.0.1');
    const missing = promisify(lookupOf(() => Promise.reject(GONE)) as never) as Lookup;
    await expect(missing('a', {})).rejects.toBe(GONE);
  });
});
