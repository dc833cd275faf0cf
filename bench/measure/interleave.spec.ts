import { describe, expect, it } from '@jest/globals';
import { interleave } from './interleave.ts';

const items = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];

describe('interleaving', () => {
  it('measures all in each round, each round beginning with the next', async () => {
    const order: string[] = [];
    const series = await interleave(items, 3, ({ id }, round) => {
      order.push(id);
      return Promise.resolve(`${id}${round}`);
    });
    expect(order.join('')).toBe('abcbcacab');
    expect([...series]).toEqual([
      ['a', { values: ['a0', 'a1', 'a2'] }],
      ['b', { values: ['b0', 'b1', 'b2'] }],
      ['c', { values: ['c0', 'c1', 'c2'] }],
    ]);
  });

  it('measures one that failed no more, and continues with the others', async () => {
    const series = await interleave(items, 2, ({ id }, round) =>
      id === 'b' ? Promise.reject(new Error('it fell over')) : Promise.resolve(round),
    );
    expect([...series.values()]).toEqual([
      { values: [0, 1] },
      { values: [], failure: 'it fell over' },
      { values: [0, 1] },
    ]);
  });
});
