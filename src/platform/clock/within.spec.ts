import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { standStill } from '../../../test/support/stand-still.ts';
import { awakeMs } from './awake-clock.ts';
import { within, withinAwake } from './within.ts';

describe('within', () => {
  const never = new Promise<string>(() => undefined);

  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('resolves and rejects with the promise, and stops its timer', async () => {
    await expect(within(10, Promise.resolve('a'))).resolves.toBe('a');
    await expect(within(10, Promise.reject(new Error('b')))).rejects.toThrow('b');
  });

  it('resolves with undefined after the time', async () => {
    const waited = within(10, never);
    let isOver = false;
    void waited.then(() => (isOver = true));
    await jest.advanceTimersByTimeAsync(9);
    expect(isOver).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await expect(waited).resolves.toBeUndefined();
  });

  it('lets a promise reject after the time', async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    const waited = within(10, promise);
    await jest.advanceTimersByTimeAsync(10);
    reject(new Error('too late'));
    await expect(waited).resolves.toBeUndefined();
  });
});

describe('withinAwake', () => {
  beforeEach(() => void awakeMs());

  it('resolves with the promise, or with undefined after the time', async () => {
    await expect(withinAwake(1_000, Promise.resolve('a'))).resolves.toBe('a');
    const startedAtMs = performance.now();
    await expect(withinAwake(50, new Promise(() => undefined))).resolves.toBeUndefined();
    expect(performance.now() - startedAtMs).toBeGreaterThan(49);
  });

  it('is not late behind a pause before what came meanwhile', async () => {
    const came = new Promise<string>((resolve) => {
      setTimeout(() => resolve('what came'), 1_100);
    });
    const waited = withinAwake(1_000, came);
    standStill(1_200);
    await expect(waited).resolves.toBe('what came');
  });
});
