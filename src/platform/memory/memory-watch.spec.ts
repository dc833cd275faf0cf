import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HeldBytes } from './held-bytes.ts';
import { MemoryWatch } from './memory-watch.ts';

const LIMIT_BYTES = 1_000;

describe('MemoryWatch', () => {
  let live: number;
  let garbage: number;
  let collections: number;
  let held: HeldBytes;
  let watch: MemoryWatch;
  let shed: [bytes: number, isUrgent: boolean][];
  let messages: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    [live, garbage, collections, shed, messages] = [0, 0, 0, [], []];
    held = new HeldBytes(LIMIT_BYTES);
    const say = (_: object, message?: string): void => void messages.push(String(message));
    watch = new MemoryWatch(
      { limitBytes: LIMIT_BYTES, usedBytes: () => live + garbage },
      held,
      { shed: (bytes, isUrgent) => void shed.push([Math.round(bytes), isUrgent]) },
      { warn: say, info: say } as never,
      () => ({ used_heap_size: 0, heap_size_limit: 1 }),
      () => {
        collections++;
        garbage = 0;
      },
    );
  });
  afterEach(() => {
    watch.stop();
    jest.useRealTimers();
  });

  it('refuses new work from nine tenths of the limit on, until less than 0.85 is in use', () => {
    const states = [899, 900, 850, 849].map((bytes) => {
      live = bytes;
      watch.measure();
      return held.isClosed;
    });
    expect(states).toEqual([false, true, true, false]);
    expect(messages).toEqual([
      'memory is short: new reads, and bodies that would have to be held, are refused for now',
      'memory is enough again',
    ]);
  });

  it('disconnects clients that do not read from 0.8 on, and from 0.85 on those that do', () => {
    for (const bytes of [799, 800, 850]) {
      live = bytes;
      watch.measure();
      jest.advanceTimersByTime(50);
    }
    expect(shed).toEqual([
      [50, false],
      [100, true],
    ]);
  });

  it('collects garbage before it refuses anything', () => {
    [live, garbage] = [500, 400];
    watch.measure();
    expect([collections, held.isClosed]).toEqual([1, false]);
  });

  // 2,100 readers had left, and an idle gateway refused all reads for 53 s: V8 had no reason to collect.
  it('collects what those leave behind whom it has refused, and serves again', () => {
    live = 950;
    watch.measure();
    [live, garbage] = [200, 660];
    jest.advanceTimersByTime(2_000);
    expect([collections, held.isClosed]).toEqual([2, false]);
  });

  it('collects once a second at most, while that does not help', () => {
    live = 950;
    jest.advanceTimersByTime(10_000);
    expect(collections).toBeGreaterThan(5);
    expect(collections).toBeLessThanOrEqual(10);
  });

  it('collects nothing while memory is enough', () => {
    garbage = 899;
    jest.advanceTimersByTime(10_000);
    expect(collections).toBe(0);
  });
});
