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

  it('puts all of it off for as long as it is held up', async () => {
    const done: number[] = [];
    let mustWait = true;
    const queue = new TurnQueue<number>(
      (item) => done.push(item),
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
