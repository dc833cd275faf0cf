import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TurnQueue } from './turn-queue.ts';

describe('TurnQueue', () => {
  it('does nothing before this turn of the event loop ends, and then all in order', async () => {
    const done: number[] = [];
    const queue = new TurnQueue<number>((item) => done.push(item));
    queue.add(1);
    await Promise.resolve();
    queue.add(2);
    await Promise.resolve();
    expect(done).toEqual([]);
    await nextTurn();
    expect(done).toEqual([1, 2]);
  });

  it('leaves what is added while it works to the next turn', async () => {
    const done: string[] = [];
    const queue = new TurnQueue<string>((item) => {
      done.push(item);
      if (item === 'first') queue.add('second');
    });
    queue.add('first');
    await nextTurn();
    expect(done).toEqual(['first']);
    await nextTurn();
    expect(done).toEqual(['first', 'second']);
  });

  // Thrown into the event loop, the fault of one would end the process.
  it('goes on with the others when one fails, and tells of the fault', async () => {
    const done: unknown[] = [];
    const queue = new TurnQueue<number>(
      (item) => {
        if (item === 2) throw new Error('fault');
        done.push(item);
      },
      (item, fault) => done.push([item, String(fault)]),
    );
    for (const item of [1, 2, 3]) queue.add(item);
    await nextTurn();
    expect(done).toEqual([1, [2, 'Error: fault'], 3]);
  });

  it('puts all of it off for as long as it is held up', async () => {
    const done: number[] = [];
    let mustWait = true;
    const queue = new TurnQueue<number>(
      (item) => done.push(item),
      undefined,
      () => mustWait,
    );
    queue.add(1);
    await nextTurn();
    queue.add(2);
    await nextTurn();
    expect(done).toEqual([]);
    mustWait = false;
    await nextTurn();
    expect(done).toEqual([1, 2]);
  });
});
