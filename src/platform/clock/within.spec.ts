import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { within } from './within.ts';

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
