import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from './deadlines.ts';

const START_MS = 1_800_000_000_000;

const callBack = (waiter: () => void): void => waiter();
const setCalendarBy = (ms: number): void => jest.setSystemTime(Date.now() + ms);

describe('Deadlines', () => {
  let deadlines: Deadlines<() => void>;
  let fired: string[];
  const note = (name: string) => (): void => void fired.push(name);

  beforeEach(() => {
    jest.useFakeTimers({ now: START_MS });
    deadlines = new Deadlines(() => Date.now(), callBack);
    fired = [];
  });
  afterEach(() => void jest.useRealTimers());

  it('calls back each waiter at its time, whatever the order of adding', () => {
    deadlines.add(START_MS + 3_000, note('late'));
    deadlines.add(START_MS + 1_000, note('early'));
    deadlines.add(START_MS + 2_000, note('middle'));

    jest.advanceTimersByTime(999);
    expect(fired).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(fired).toEqual(['early']);
    jest.advanceTimersByTime(2_000);
    expect(fired).toEqual(['early', 'middle', 'late']);
  });

  it('rounds a time up to a tenth of a second and never down', () => {
    deadlines.add(START_MS + 1, note('waiter'));
    jest.advanceTimersByTime(99);
    expect(fired).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(fired).toEqual(['waiter']);
  });

  it('calls back at once for a time that is past', () => {
    deadlines.add(START_MS - 60_000, note('waiter'));
    jest.advanceTimersByTime(0);
    expect(fired).toEqual(['waiter']);
  });

  it('holds one timer for ten thousand waiters, and none once they are called off', () => {
    const added = Array.from({ length: 10_000 }, (_, i) =>
      deadlines.add(START_MS + 1_000 + i * 137, note('waiter')),
    );
    expect(jest.getTimerCount()).toBe(1);
    for (const deadline of added) deadline.callOff();
    expect(jest.getTimerCount()).toBe(0);
    jest.advanceTimersByTime(10_000_000);
    expect(fired).toEqual([]);
  });

  // Spread into Math.min, the times of so many waiters overflowed the stack and ended the process.
  it('copes with two hundred thousand different times', () => {
    for (let i = 0; i < 200_000; i++) deadlines.add(START_MS + 1_000 + i * 100, () => undefined);
    expect(() => jest.advanceTimersByTime(1_000)).not.toThrow();
    expect(jest.getTimerCount()).toBe(1);
  });

  it('calls off one waiter of a time and not the other', () => {
    const calledOff = deadlines.add(START_MS + 1_000, note('called off'));
    deadlines.add(START_MS + 1_000, note('kept'));
    calledOff.callOff();
    calledOff.callOff();
    jest.advanceTimersByTime(1_000);
    expect(fired).toEqual(['kept']);
  });

  it('lets the same function wait twice', () => {
    const waiter = note('waiter');
    deadlines.add(START_MS + 1_000, waiter);
    deadlines.add(START_MS + 1_000, waiter);
    jest.advanceTimersByTime(1_000);
    expect(fired).toEqual(['waiter', 'waiter']);
  });

  it('lets a waiter call off another of the same time, and add one', () => {
    deadlines.add(START_MS + 1_000, () => {
      calledOff.callOff();
      deadlines.add(START_MS + 1_500, note('added'));
    });
    const calledOff = deadlines.add(START_MS + 1_000, note('called off'));
    jest.advanceTimersByTime(2_000);
    expect(fired).toEqual(['added']);
  });

  it('keeps a waiter that is added for a time that has come, whoever is called off then', () => {
    deadlines.add(START_MS + 1_000, () => {
      deadlines.add(START_MS + 1_000, note('added'));
      calledOff.callOff();
    });
    const calledOff = deadlines.add(START_MS + 1_000, note('called off'));
    jest.advanceTimersByTime(2_000);
    expect(fired).toEqual(['added']);
  });

  // The next timer was set only after all callbacks: one that threw left every later waiter asleep.
  it('continues after a waiter that throws', () => {
    deadlines.add(START_MS + 1_000, () => {
      throw new Error('thrown by a waiter');
    });
    deadlines.add(START_MS + 2_000, note('later'));
    expect(() => jest.advanceTimersByTime(1_000)).toThrow('thrown by a waiter');
    jest.advanceTimersByTime(1_000);
    expect(fired).toEqual(['later']);
  });

  it('waits for a time that no timer of 32 bits can hold', () => {
    const monthsMs = 90 * 86_400_000;
    deadlines.add(START_MS + monthsMs, note('far'));
    jest.advanceTimersByTime(monthsMs - 1);
    expect(fired).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(fired).toEqual(['far']);
  });

  // A timer counts what passes, whatever the calendar says: reads ended at the old moment, and streams outlived
  // their tokens.
  describe('with a calendar that is set anew', () => {
    const CHECK_MS = 1_000;
    const HOUR_MS = 3_600_000;
    beforeEach(() => {
      deadlines = new Deadlines(() => Date.now(), callBack, CHECK_MS);
    });

    it('calls back within its checks when the calendar was set beyond the time', () => {
      deadlines.add(START_MS + HOUR_MS, note('waiter'));
      jest.advanceTimersByTime(500);
      setCalendarBy(HOUR_MS);
      jest.advanceTimersByTime(CHECK_MS);
      expect(fired).toEqual(['waiter']);
    });

    it('waits for the time when the calendar was set back, and back again', () => {
      deadlines.add(START_MS + 10_000, note('waiter'));
      setCalendarBy(-HOUR_MS);
      jest.advanceTimersByTime(60_000);
      expect(fired).toEqual([]);
      setCalendarBy(HOUR_MS);
      jest.advanceTimersByTime(CHECK_MS);
      expect(fired).toEqual(['waiter']);
    });

    it('does so with one timer', () => {
      for (let i = 1; i <= 1_000; i++) deadlines.add(START_MS + i * HOUR_MS, note('waiter'));
      jest.advanceTimersByTime(10 * CHECK_MS);
      expect(jest.getTimerCount()).toBe(1);
    });
  });
});
