import { describe, expect, it } from '@jest/globals';
import { AwakeClock } from './awake-clock.ts';

describe('AwakeClock', () => {
  it('advances with the time', () => {
    let nowMs = 1_000;
    const clock = new AwakeClock(() => nowMs);
    const beganAtMs = clock.readMs();
    nowMs += 100;
    clock.readMs();
    nowMs += 400;
    expect(clock.readMs() - beganAtMs).toBe(500);
  });

  // Each read that waited for a connection was 502 behind a pause of two seconds.
  it('hardly counts a pause', () => {
    let nowMs = 1_000;
    const clock = new AwakeClock(() => nowMs);
    const beganAtMs = clock.readMs();
    nowMs += 3_600_000;
    expect(clock.readMs() - beganAtMs).toBe(500);
  });
});
