import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RuntimeOutage } from './runtime-outage.ts';

const WAIT_MS = 3_000;
const REFUSED = new Error('refused');

describe('RuntimeOutage', () => {
  let probes: number;
  /** What happens to a socket of the scout. */
  let behave: (socket: Socket, onOpen: () => void) => void;
  let outage: RuntimeOutage;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    // A process has run for a while before an outage.
    jest.advanceTimersByTime(100_000);
    probes = 0;
    behave = (socket) => socket.destroy(REFUSED);
    outage = new RuntimeOutage(WAIT_MS, 2_000, (_, onOpen) => {
      probes += 1;
      const socket = new Socket();
      behave(socket, onOpen);
      return socket;
    });
  });
  afterEach(() => {
    outage.stop();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const pass = async (ms: number): Promise<void> => {
    await jest.advanceTimersByTimeAsync(ms);
    // The error of a socket comes in another turn.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  };

  it('asks after 50 ms, then less often, at last every 500 ms, until a connection opens', async () => {
    outage.connectFailed(REFUSED);
    const seen: number[] = [];
    for (const ms of [49, 1, 100, 200, 400, 500, 500]) {
      await pass(ms);
      seen.push(probes);
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);

    behave = (_, onOpen) => process.nextTick(onOpen);
    await pass(500);
    expect(outage.isUnderWay).toBe(false);
    await pass(60_000);
    expect(probes).toBe(7);
  });

  it('is none before, and an answer or a connection does not begin one', async () => {
    const state = () => [outage.isUnderWay, outage.cause, outage.seconds, outage.isJustOver];
    expect(state()).toEqual([false, undefined, 0, false]);
    outage.connected();
    outage.answered(performance.now());
    expect(state()).toEqual([false, undefined, 0, false]);
    expect(await outage.wait(Infinity)).toBe(true);
    outage.connectFailed(REFUSED);
    await pass(1_000);
    expect(state()).toEqual([true, REFUSED, 1, false]);
  });

  it('that ends while the scout asks ends the scout, too', async () => {
    let socket: Socket | undefined;
    behave = (probe) => void (socket = probe);
    outage.connectFailed(REFUSED);
    await pass(50);
    expect(probes).toBe(1);
    outage.connected();
    expect(socket?.destroyed).toBe(true);
    await pass(60_000);
    expect([probes, outage.isUnderWay]).toEqual([1, false]);
  });

  it('asks one at a time, also where a connection hangs, and one that fails again is the same outage', async () => {
    behave = () => undefined;
    outage.connectFailed(REFUSED);
    await pass(50);
    outage.connectFailed(REFUSED);
    await pass(1_999);
    expect(probes).toBe(1);
    await pass(1);
    expect(outage.cause).toMatchObject({ code: 'ETIMEDOUT' });
    await pass(100);
    expect(probes).toBe(2);
    expect(outage.seconds).toBeCloseTo(2.15);
  });

  it('lets who comes wait until the time since its beginning, and nobody who comes later', async () => {
    outage.connectFailed(REFUSED);
    const settled: [string, boolean][] = [];
    const wait = (name: string, untilMs = Infinity) =>
      void outage.wait(untilMs).then((isOver) => settled.push([name, isOver]));
    wait('first');
    wait('impatient', performance.now() + 100);
    await pass(100);
    expect(settled).toEqual([['impatient', false]]);
    await pass(2_800);
    wait('second');
    expect(outage.waitingCount).toBe(2);
    await pass(100);
    expect(settled.slice(1)).toEqual([
      ['first', false],
      ['second', false],
    ]);
    wait('late');
    // There is no time left to wait for.
    expect(outage.waitingCount).toBe(0);
    await pass(0);
    expect(settled.at(-1)).toEqual(['late', false]);
    expect(outage.waitingCount).toBe(0);
  });

  it('ends for all when any connection opens, and a new one has a time of its own', async () => {
    outage.connectFailed(REFUSED);
    await pass(2_900);
    const first = outage.wait(Infinity);
    outage.connected();
    expect(await first).toBe(true);
    expect([outage.isUnderWay, outage.seconds, outage.waitingCount]).toEqual([false, 0, 0]);

    outage.connectFailed(REFUSED);
    await pass(2_900);
    const second = outage.wait(Infinity);
    await pass(100);
    expect(await second).toBe(false);
  });

  it('is just over for 5 s after the first answer to a request that waited for it', async () => {
    expect(outage.isJustOver).toBe(false);
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

  it('that is stopped ends every wait, and begins no more', async () => {
    outage.connectFailed(REFUSED);
    const waiting = outage.wait(Infinity);
    outage.stop();
    expect(await waiting).toBe(false);
    outage.connectFailed(REFUSED);
    expect(outage.isUnderWay).toBe(false);
    expect(await outage.wait(Infinity)).toBe(false);
  });
});
