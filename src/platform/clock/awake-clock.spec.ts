import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { awakeMs } from './awake-clock.ts';

describe('awakeMs', () => {
  let nowMs: number;
  let beganAtMs: number;
  beforeEach(() => {
    nowMs = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    beganAtMs = awakeMs();
  });
  afterEach(() => void jest.restoreAllMocks());

  it('advances with the time', () => {
    nowMs += 100;
    awakeMs();
    nowMs += 400;
    expect(awakeMs() - beganAtMs).toBeCloseTo(500);
  });

  // Each read that waited for a connection was 502 behind a pause of two seconds.
  it('hardly counts a pause', () => {
    nowMs += 3_600_000;
    expect(awakeMs() - beganAtMs).toBeCloseTo(500);
  });
});
