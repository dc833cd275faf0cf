import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SlowStart } from './slow-start.ts';

describe('SlowStart', () => {
  let slowStart: SlowStart;
  let gone: number[];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    slowStart = new SlowStart();
    gone = [];
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const enter = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) void slowStart.enter().then(() => gone.push(i));
    await nextTurn();
  };
  const leave = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) slowStart.leave();
    await nextTurn();
  };
  const pass = async (ms: number): Promise<void> => {
    await jest.advanceTimersByTimeAsync(ms);
    await nextTurn();
  };
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('lets sixteen go, and the others in their order as those leave', async () => {
    await enter(20);
    expect([gone.length, slowStart.waitingCount]).toEqual([16, 4]);
    await leave(1);
    expect(gone.slice(16)).toEqual([16]);
    await leave(3);
    expect(gone.slice(16)).toEqual([16, 17, 18, 19]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('needs no timer while all may go', async () => {
    await enter(16);
    expect([gone.length, jest.getTimerCount()]).toEqual([16, 0]);
    await enter(1);
    expect([gone.length, jest.getTimerCount()]).toEqual([16, 1]);
    await leave(1);
    expect([gone.length, jest.getTimerCount()]).toEqual([17, 0]);
  });

  it('lets twice as many go each half second, if nobody comes back', async () => {
    await enter(100);
    const numbers: number[] = [];
    for (let tick = 0; tick < 3; tick++) {
      await pass(500);
      numbers.push(gone.length);
    }
    expect(numbers).toEqual([32, 64, 100]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('keeps to sixteen while they come back soon enough for all', async () => {
    await enter(200);
    await leave(17);
    await pass(500);
    expect(gone.length).toBe(16 + 17);
    await leave(15);
    await pass(500);
    expect(gone.length).toBe(32 + 32);
  });

  it('begins with sixteen again for the next crowd', async () => {
    await enter(64);
    await pass(1_000);
    expect(gone.length).toBe(64);
    await leave(64);
    await enter(20);
    expect(gone.length).toBe(64 + 16);
  });
});
