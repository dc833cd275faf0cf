import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Patience } from './answer-patience.ts';
import { APIError, type LiveState } from './index.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const LIVE: LiveState = { name: 'live' };
const waiting = (status?: number): LiveState => ({
  name: 'waiting',
  error: new APIError('no', { code: 'x', status }),
  retryInMs: 0,
});

/** The time until it is over after these steps, each a state and how long it lasts. Undefined if it does not end. */
function overAfterMs(...steps: [LiveState, number][]): number | undefined {
  const beganAtMs = performance.now();
  let overAtMs: number | undefined;
  const patience = new Patience(60_000, 90_000, () => (overAtMs ??= performance.now()));
  for (const [state, ms] of steps) {
    patience.onState(state);
    jest.advanceTimersByTime(ms);
  }
  patience.end();
  return overAtMs === undefined ? undefined : overAtMs - beganAtMs;
}

describe('the time that an agent has to begin', () => {
  it.each<[string, [LiveState, number][], number | undefined]>([
    ['runs while the timeline is read', [[LIVE, 70_000]], 60_000],
    // The agent was said not to have begun while nobody could hear it.
    [
      'stops for an outage',
      [
        [LIVE, 10_000],
        [waiting(), 80_000],
        [LIVE, 70_000],
      ],
      140_000,
    ],
    [
      'stops for 90 s of outages',
      [
        [LIVE, 10_000],
        [waiting(), 200_000],
      ],
      150_000,
    ],
    [
      'stops while the page is hidden',
      [
        [LIVE, 10_000],
        [{ name: 'paused' }, 3_600_000],
      ],
      undefined,
    ],
    ['runs while there is no timeline yet', [[waiting(404), 70_000]], 60_000],
  ])('%s', (_, steps, expected) => {
    expect(overAfterMs(...steps)).toBe(expected);
  });

  // A question that was asked before waited for 90 s more while its answer was searched for.
  it('runs before the timeline is read', () => {
    let isOver = false;
    const patience = new Patience(500, 90_000, () => (isOver = true));
    jest.advanceTimersByTime(500);
    patience.end();
    expect(isOver).toBe(true);
  });

  it('begins again when the events come again from the start', () => {
    let isOver = false;
    const patience = new Patience(60_000, 0, () => (isOver = true));
    patience.onState(LIVE);
    jest.advanceTimersByTime(50_000);
    patience.restart();
    jest.advanceTimersByTime(50_000);
    expect(isOver).toBe(false);
    jest.advanceTimersByTime(10_000);
    expect(isOver).toBe(true);
  });
});
