import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { fakeTime, pass } from '../../test/support/fake-time.ts';
import { RuntimeOutage, type WaitingCommand } from './runtime-outage.ts';

const WAIT_MS = 3_000;
const REFUSED = new Error('refused');
const SILENT_MS = 7_500;

type Turn = 'go' | 'probe' | 'late';

describe('RuntimeOutage', () => {
  let outage: RuntimeOutage;
  let probes: number;
  /** What comes of an attempt to connect. */
  let behave: () => Promise<Error | undefined>;
  /** What says of the attempt of each command that it has ended. */
  let ends: Map<string, () => void>;
  /** What became of each command that waited, in order. */
  let turns: [entity: string, turn: Turn][];

  beforeEach(async () => {
    fakeTime();
    // A process has run for a while before an outage.
    await pass(10_000);
    probes = 0;
    turns = [];
    ends = new Map();
    behave = () => Promise.resolve(REFUSED);
    outage = new RuntimeOutage(WAIT_MS, SILENT_MS, () => {
      probes += 1;
      return behave();
    });
  });
  afterEach(async () => {
    outage.stop();
    for (const ended of ends.values()) ended();
    // The last tick, and the pause of the scout.
    await pass(500);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  /** A command of this entity waits, which has a key unless the test says otherwise. */
  function wait(entity: string, { isRepeatable = true, untilMs = Infinity } = {}): void {
    const command = { entity, isRepeatable };
    void outage.wait(command, untilMs).then((mayGo) => {
      if (mayGo) ends.set(entity, outage.sent(command));
      turns.push([entity, mayGo ? (isUnderWay() ? 'probe' : 'go') : 'late']);
    });
  }
  const turnsAfter = async (ms: number): Promise<typeof turns> => {
    await pass(ms);
    return turns.splice(0);
  };
  const isUnderWay = (): boolean => outage.underWay !== undefined;
  const isSilent = (): boolean => outage.underWay?.kind === 'silence';
  const seconds = (): number => {
    const nowMs = performance.now();
    return (nowMs - (outage.underWay?.startedAtMs ?? nowMs)) / 1_000;
  };
  const state = () => [isUnderWay(), outage.underWay?.cause, seconds(), outage.isJustOver];
  const commandOf = (entity: string): WaitingCommand => ({ entity, isRepeatable: true });

  it('is none before, and an answer or a connection does not begin one', async () => {
    expect(state()).toEqual([false, undefined, 0, false]);
    outage.connected();
    outage.answered(performance.now());
    expect(state()).toEqual([false, undefined, 0, false]);
    wait('a');
    expect(await turnsAfter(0)).toEqual([['a', 'go']]);
  });

  describe('in which no connection opens', () => {
    it('asks after 50 ms, then less often, at last every 500 ms, until a connection opens', async () => {
      outage.connectFailed(REFUSED);
      const seen: number[] = [];
      for (const ms of [49, 1, 100, 200, 400, 500, 500]) {
        await pass(ms);
        seen.push(probes);
      }
      expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
      behave = () => Promise.resolve(undefined);
      await pass(500);
      expect(isUnderWay()).toBe(false);
      await pass(60_000);
      expect(probes).toBe(7);
    });

    it('tells for how long, and why', async () => {
      outage.connectFailed(REFUSED);
      await pass(1_000);
      expect(state()).toEqual([true, REFUSED, 1, false]);
      expect(outage.retryAfterSeconds).toBe(1);
    });

    it('that ends while the scout asks learns no more of it', async () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      behave = () => promise;
      outage.connectFailed(REFUSED);
      await pass(50);
      outage.connected();
      outage.connectFailed(REFUSED);
      resolve(undefined);
      await pass(0);
      // It says nothing about the next outage.
      expect([probes, isUnderWay()]).toEqual([1, true]);
    });

    it('asks one at a time, also where a connection hangs, and one that fails again is the same outage', async () => {
      const LATE = new Error('late');
      const { promise, resolve } = Promise.withResolvers<Error>();
      behave = () => promise;
      outage.connectFailed(REFUSED);
      await pass(50);
      outage.connectFailed(REFUSED);
      await pass(2_000);
      expect(probes).toBe(1);
      resolve(LATE);
      await pass(0);
      expect(outage.underWay?.cause).toBe(LATE);
      await pass(100);
      expect(probes).toBe(2);
      expect(seconds()).toBeCloseTo(2.15);
    });

    it('lets who comes wait until the time since its beginning, and nobody who comes later', async () => {
      outage.connectFailed(REFUSED);
      wait('first');
      wait('impatient', { untilMs: performance.now() + 100 });
      expect(await turnsAfter(100)).toEqual([['impatient', 'late']]);
      await pass(2_800);
      wait('second');
      expect(outage.waitingCount).toBe(2);
      expect(await turnsAfter(100)).toEqual([
        ['first', 'late'],
        ['second', 'late'],
      ]);
      wait('late');
      // There is no time left to wait for.
      expect(outage.waitingCount).toBe(0);
      expect(await turnsAfter(0)).toEqual([['late', 'late']]);
    });

    it('ends for all when any connection opens, and a new one has a time of its own', async () => {
      outage.connectFailed(REFUSED);
      await pass(2_900);
      wait('first');
      outage.connected();
      expect(await turnsAfter(50)).toEqual([['first', 'go']]);
      expect([isUnderWay(), seconds(), outage.waitingCount]).toEqual([false, 0, 0]);

      outage.connectFailed(REFUSED);
      await pass(2_900);
      wait('second');
      expect(await turnsAfter(100)).toEqual([['second', 'late']]);
    });

    it('lets no command probe, and none begins by refusals meanwhile', async () => {
      outage.connectFailed(REFUSED);
      await closeDoor();
      wait('fresh');
      expect(await turnsAfter(1_000)).toEqual([]);
      outage.connected();
      expect(await turnsAfter(50)).toEqual([['fresh', 'go']]);
    });

    it('is just over for 5 s after the first answer to a request that waited for it', async () => {
      outage.connectFailed(REFUSED);
      outage.connected();
      const sentAtMs = performance.now();
      await pass(60_000);
      expect(outage.isJustOver).toBe(false);
      outage.answered(sentAtMs);
      expect(outage.isJustOver).toBe(true);
      await pass(4_999);
      // Only the first answer counts.
      outage.answered(performance.now());
      expect(outage.isJustOver).toBe(true);
      await pass(1);
      expect(outage.isJustOver).toBe(false);
      outage.answered(performance.now());
      expect(outage.isJustOver).toBe(false);
    });

    it('is not just over when a request comes long after its end', async () => {
      outage.connectFailed(REFUSED);
      outage.connected();
      await pass(5_000);
      outage.answered(performance.now());
      expect(outage.isJustOver).toBe(false);
    });
  });

  describe('at whose end many wait', () => {
    const waitAll = (count: number): void => {
      for (let i = 0; i < count; i++) wait(`e${i}`);
    };
    const gone = async (ms: number): Promise<number> => (await turnsAfter(ms)).length;

    // They met a runtime that had just started, all at once.
    it.each([
      [40, [0, 16, 16, 8, 0]],
      [1_000, [0, 50, 50, 50]],
    ])('lets %i go in slices, one every 50 ms', async (count, slices) => {
      outage.connectFailed(REFUSED);
      waitAll(count);
      outage.connected();
      const seen = [await gone(0)];
      for (let slice = 1; slice < slices.length; slice++) seen.push(await gone(50));
      expect(seen).toEqual(slices);
      await pass(1_000);
      expect(outage.waitingCount).toBe(0);
    });

    it('lets the rest go although its time to wait is over', async () => {
      outage.connectFailed(REFUSED);
      waitAll(400);
      await pass(2_900);
      outage.connected();
      const seen = await turnsAfter(2_000);
      expect(seen.length).toBe(400);
      expect(new Set(seen.map(([, turn]) => turn))).toEqual(new Set(['go']));
    });

    it('has the rest wait on when the runtime is away again, none for longer than it would', async () => {
      outage.connectFailed(REFUSED);
      waitAll(40);
      wait('impatient', { untilMs: performance.now() + 3_000 });
      outage.connected();
      expect(await gone(50)).toBe(16);
      outage.connectFailed(REFUSED);
      expect([await gone(2_900), outage.waitingCount]).toEqual([0, 25]);
      expect(await turnsAfter(50)).toEqual([['impatient', 'late']]);
      expect(await gone(50)).toBe(24);
    });

    it('sends who comes then at once', async () => {
      outage.connectFailed(REFUSED);
      waitAll(20);
      outage.connected();
      wait('next');
      expect([await turnsAfter(0), outage.waitingCount]).toEqual([[['next', 'go']], 20]);
      expect(await gone(50)).toBe(16);
      expect(await gone(50)).toBe(4);
    });
  });

  /** So many commands of these entities are refused within a second. */
  async function refuse(
    entities: string[],
    { ms = 1_000, retryAfterMs }: { ms?: number; retryAfterMs?: number } = {},
  ): Promise<void> {
    for (const [i, entity] of entities.entries()) {
      if (i === entities.length - 1) await pass(ms);
      outage.refused(commandOf(entity), retryAfterMs);
    }
  }
  const REFUSED_ENTITIES = ['a', 'b', 'c', 'd', 'e', 'f'];
  const closeDoor = (retryAfterMs?: number): Promise<void> =>
    refuse(REFUSED_ENTITIES, retryAfterMs === undefined ? {} : { retryAfterMs });
  /** The command that probes is refused. */
  function refusedAsProbe(entity: string, retryAfterMs?: number): void {
    outage.refused(commandOf(entity), retryAfterMs);
    ends.get(entity)?.();
  }

  // With two of three nodes of Restate away, each command of 20 a second held a connection for 15 s.
  describe('in which nothing is accepted', () => {
    const send = (entities: string) =>
      entities.split('').map((entity) => outage.sent(commandOf(entity)));

    async function fallSilent(): Promise<(() => void)[]> {
      const ends = send('aabba');
      await pass(SILENT_MS);
      return ends;
    }

    it('begins when several commands of two entities have waited for long, with the next one', async () => {
      await fallSilent();
      expect(isSilent()).toBe(true);
      expect(outage.underWay?.cause).toEqual(
        new Error(`the runtime has accepted no command for ${SILENT_MS} ms`),
      );
      expect(probes).toBe(0);
    });

    it.each([
      ['with fewer commands', 'abab', SILENT_MS, () => undefined],
      ['with those of one entity', 'aaaaaa', SILENT_MS, () => undefined],
      ['sooner', 'aabba', SILENT_MS - 1, () => undefined],
      ['where one was accepted meanwhile', 'aabba', SILENT_MS, () => outage.accepted()],
      ['once they have ended', 'aabba', SILENT_MS, (ends: (() => void)[]) => ends[0]?.()],
    ])('does not begin %s', async (_, entities, ms, happens) => {
      const ends = send(entities);
      await pass(1_000);
      happens(ends);
      await pass(ms - 1_000);
      expect([isUnderWay(), isSilent()]).toEqual([false, false]);
    });

    it('begins again when as many have waited since one was accepted', async () => {
      await fallSilent();
      await pass(1);
      outage.accepted();
      expect(isSilent()).toBe(false);
      await pass(1);
      await fallSilent();
      expect(isSilent()).toBe(true);
    });

    it('has a command try each second, whatever became of the one before', async () => {
      await fallSilent();
      expect(isUnderWay()).toBe(true);
      for (const entity of ['c', 'd', 'e']) wait(entity);
      expect(await turnsAfter(999)).toEqual([]);
      expect(await turnsAfter(1)).toEqual([['c', 'probe']]);
      ends.get('c')?.();
      expect(await turnsAfter(999)).toEqual([]);
      expect(await turnsAfter(1)).toEqual([['d', 'probe']]);
      expect(await turnsAfter(1_000)).toEqual([['e', 'probe']]);
      await pass(1_000);
      for (const entity of ['f', 'g']) wait(entity);
      expect(await turnsAfter(0)).toEqual([
        ['f', 'probe'],
        ['g', 'late'],
      ]);
    });

    it('ends with a command that is accepted, and with no other answer', async () => {
      await fallSilent();
      expect(isUnderWay()).toBe(true);
      wait('c');
      wait('d');
      outage.answered(performance.now());
      outage.connected();
      outage.refused(commandOf('a'), undefined);
      expect([isSilent(), await turnsAfter(0)]).toEqual([true, []]);
      outage.accepted();
      expect([isUnderWay(), await turnsAfter(50)]).toEqual([
        false,
        [
          ['c', 'go'],
          ['d', 'go'],
        ],
      ]);
    });

    it('is none of its own while no connection opens', async () => {
      outage.connectFailed(REFUSED);
      await fallSilent();
      expect([isUnderWay(), isSilent(), outage.underWay?.cause]).toEqual([true, false, REFUSED]);
    });
  });

  // A door that said 503 with Retry-After: 20 got 1,490 requests a second from those who waited.
  describe('whose door refuses every command', () => {
    it.each<[string, string[], number, boolean]>([
      [
        'opens after a second of five refusals, of two entities',
        ['a', 'a', 'a', 'a', 'b'],
        1_000,
        true,
      ],
      ['does not before that', ['a', 'a', 'a', 'a', 'b'], 999, false],
      ['does not with four', ['a', 'a', 'a', 'b'], 1_000, false],
      ['does not by one entity', ['a', 'a', 'a', 'a', 'a', 'a'], 1_000, false],
    ])('%s', async (_, entities, ms, isUnderWay) => {
      await refuse(entities, { ms });
      expect(state()).toEqual([isUnderWay, undefined, 0, false]);
    });

    it('does not open if the runtime answers between, whatever that is', async () => {
      await refuse(['a', 'b', 'a', 'b']);
      outage.answered(performance.now());
      outage.refused(commandOf('a'), undefined);
      expect(isUnderWay()).toBe(false);
      // All of it begins again.
      await refuse(['b', 'a', 'b', 'a']);
      expect(isUnderWay()).toBe(true);
    });

    it('is probed by one command at a time, less and less often', async () => {
      await closeDoor();
      for (const entity of REFUSED_ENTITIES) wait(entity);
      // After a tick in which one could go that was not refused.
      for (const [turn, paceMs] of [50, 100, 200, 400, 500, 500].entries()) {
        expect(await turnsAfter(paceMs + 49)).toEqual([]);
        const entity = REFUSED_ENTITIES[turn] ?? '';
        expect(await turnsAfter(1)).toEqual([[entity, 'probe']]);
        // Nobody else does before it has its answer.
        expect(await turnsAfter(100)).toEqual([]);
        refusedAsProbe(entity);
      }
    });

    it.each([
      ['at the pace that it asks for', 20_000, 20_000],
      ['at the pace of 30 s, if it asks for more', 999_000, 30_000],
      // It had as many requests as it could answer, one after the other.
      ['at its own pace, if it asks for none', 0, 50],
    ])('is probed %s', async (_, retryAfterMs, paceMs) => {
      await closeDoor(retryAfterMs);
      expect(outage.retryAfterSeconds).toBe(Math.max(1, Math.floor(paceMs / 1_000)));
      await pass(paceMs + 49);
      wait('a');
      expect(await turnsAfter(0)).toEqual(paceMs > WAIT_MS ? [['a', 'late']] : []);
      await pass(1);
      wait('b');
      expect((await turnsAfter(0)).at(-1)).toEqual(['b', 'probe']);
    });

    it('has the time of a probe that it asked for last', async () => {
      await closeDoor(20_000);
      outage.refused(commandOf('a'), 1_000);
      expect(outage.retryAfterSeconds).toBe(1);
      outage.answered(performance.now());
      outage.connectFailed(REFUSED);
      expect(outage.retryAfterSeconds).toBe(1);
    });

    describe('and a command of an entity that was not refused', () => {
      it('goes first of those that wait, before others the one with a key', async () => {
        await closeDoor();
        wait('a');
        wait('fresh', { isRepeatable: false });
        expect(await turnsAfter(50)).toEqual([['fresh', 'probe']]);
        refusedAsProbe('fresh');
        wait('other', { isRepeatable: false });
        outage.refused(commandOf('keyed'), undefined);
        expect(await turnsAfter(100)).toEqual([['other', 'probe']]);
      });

      // One client's failing requests shut out all others.
      it('need not wait for its turn, if it has a key, and is followed by the next one at its pace', async () => {
        await closeDoor(1_000);
        wait('fresh');
        expect(await turnsAfter(0)).toEqual([['fresh', 'probe']]);
        wait('while it probes');
        expect(await turnsAfter(100)).toEqual([]);
        refusedAsProbe('fresh', 1_000);
        wait('too soon');
        expect(await turnsAfter(0)).toEqual([]);
        expect(await turnsAfter(849)).toEqual([]);
        expect(await turnsAfter(51)).toEqual([['while it probes', 'probe']]);
      });

      it('waits for its turn if it has none', async () => {
        await closeDoor(1_000);
        wait('fresh', { isRepeatable: false });
        expect(await turnsAfter(999)).toEqual([]);
        expect(await turnsAfter(1)).toEqual([['fresh', 'probe']]);
      });

      it('is not known for one any more after so many others that memory has an end', async () => {
        for (let i = 0; i < 1_000; i++) outage.refused(commandOf(`e${i}`), undefined);
        await closeDoor(1_000);
        expect(isUnderWay()).toBe(true);
        wait('e999');
        expect(await turnsAfter(0)).toEqual([]);
        wait('a');
        expect(await turnsAfter(0)).toEqual([['a', 'probe']]);
      });
    });

    it('ends for all with any answer of the runtime, and with nothing else', async () => {
      await closeDoor();
      wait('a');
      wait('b');
      outage.connected();
      outage.connectFailed(REFUSED);
      expect(state().slice(0, 2)).toEqual([true, REFUSED]);
      expect(await turnsAfter(100)).toEqual([['a', 'probe']]);
      outage.answered(performance.now());
      ends.get('a')?.();
      expect(await turnsAfter(50)).toEqual([['b', 'go']]);
      expect(state()).toEqual([false, undefined, 0, true]);
      await pass(4_949);
      expect(outage.isJustOver).toBe(true);
      await pass(1);
      expect([outage.isJustOver, probes]).toEqual([false, 0]);
    });

    it('lets nobody wait for longer than its time, and who comes later not at all', async () => {
      await closeDoor(20_000);
      wait('a');
      expect(await turnsAfter(2_999)).toEqual([]);
      expect(await turnsAfter(1)).toEqual([['a', 'late']]);
      wait('b');
      expect(await turnsAfter(0)).toEqual([['b', 'late']]);
    });

    it('has the next command probe that comes, if none waits when it is time', async () => {
      await closeDoor();
      await pass(10_000);
      wait('a');
      wait('b');
      expect(await turnsAfter(0)).toEqual([
        ['a', 'probe'],
        ['b', 'late'],
      ]);
    });

    it('is forgotten when no command has come for a minute', async () => {
      await closeDoor();
      await pass(60_049);
      expect(isUnderWay()).toBe(true);
      await pass(1);
      expect(isUnderWay()).toBe(false);
      wait('a');
      expect(await turnsAfter(0)).toEqual([['a', 'go']]);
    });

    it('does not take the answer to a probe of the last outage for one of its own', async () => {
      await closeDoor();
      wait('a');
      expect(await turnsAfter(100)).toEqual([['a', 'probe']]);
      outage.answered(performance.now());
      await closeDoor(1_000);
      wait('b');
      ends.get('a')?.();
      expect(await turnsAfter(1_049)).toEqual([]);
      expect(await turnsAfter(1)).toEqual([['b', 'probe']]);
    });
  });

  it('that is stopped ends every wait, and begins no more', async () => {
    outage.connectFailed(REFUSED);
    wait('a');
    outage.stop();
    expect(await turnsAfter(50)).toEqual([['a', 'late']]);
    outage.connectFailed(REFUSED);
    await closeDoor();
    outage.connected();
    expect([outage.underWay?.kind, probes]).toEqual(['stop', 0]);
    wait('b');
    expect(await turnsAfter(0)).toEqual([['b', 'late']]);
  });
});
