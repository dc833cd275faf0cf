import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { StateTeller } from './live-state.ts';
import { ReadRequests } from './read-requests.ts';
import { ReadTurns } from './read-turns.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a turn of a read in which nothing is open', () => {
  // The protocol's client had lost its wake-up, and the state said `live` for good.
  it('is no longer live after a second, and ends', async () => {
    const states: string[] = [];
    const teller = new StateTeller(({ name }) => states.push(name));
    const answer = Promise.withResolvers<Response>();
    const requests = new ReadRequests(() => answer.promise, 90_000);
    const left = new AbortController();
    const turns = new ReadTurns({
      requests,
      states: teller,
      isLive: true,
      isTaking: () => false,
      signal: left.signal,
    });
    const unwatch = turns.watch();
    const turn = await turns.next();
    const response = requests.fetch('http://gateway.test');
    teller.enter({ name: 'live' });
    await jest.advanceTimersByTimeAsync(30_000);
    expect([turn.aborted, states]).toEqual([false, ['connecting', 'live']]);
    answer.resolve(new Response('a body that nobody reads'));
    await response;
    await jest.advanceTimersByTimeAsync(1_000);
    expect([turn.aborted, states]).toEqual([false, ['connecting', 'live', 'connecting']]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(turn.aborted).toBe(true);
    unwatch();
    expect(jest.getTimerCount()).toBe(0);
  });
});
