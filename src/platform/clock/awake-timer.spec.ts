import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { standStill } from '../../../test/support/stand-still.ts';
import { awakeMs } from './awake-clock.ts';
import { AwakeTimer } from './awake-timer.ts';

describe('AwakeTimer', () => {
  let timer: AwakeTimer;
  beforeEach(() => void awakeMs());
  afterEach(() => timer.stop());

  it('calls back once after its time', async () => {
    const startedAtMs = performance.now();
    await new Promise<void>((resolve) => (timer = new AwakeTimer(50, resolve)));
    expect(performance.now() - startedAtMs).toBeGreaterThan(49);
  });

  it('does not call back behind a pause before what came meanwhile', async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      timer = new AwakeTimer(1_000, () => {
        order.push('late');
        resolve();
      });
      setTimeout(() => order.push('what came'), 1_100);
      standStill(1_200);
    });
    expect(order).toEqual(['what came', 'late']);
  });

  it('begins its time again', async () => {
    const startedAtMs = performance.now();
    let times = 0;
    await new Promise<void>((resolve) => {
      timer = new AwakeTimer(30, () => {
        if (++times === 2) resolve();
        else timer.restart();
      });
    });
    expect(performance.now() - startedAtMs).toBeGreaterThan(58);
  });

  it('does not call back once it is stopped', async () => {
    const onDue = jest.fn();
    timer = new AwakeTimer(10, onDue);
    timer.stop();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(onDue).not.toHaveBeenCalled();
  });
});
