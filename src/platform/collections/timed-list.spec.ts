import { describe, expect, it } from '@jest/globals';
import { Random } from '../../../test/soak/random.ts';
import { TimedList, type TimedItem } from './timed-list.ts';

interface Item extends TimedItem<Item> {}

const newItem = (): Item => ({});

function taken(list: TimedList<Item>): Item[] {
  const items: Item[] = [];
  while (list.oldest) {
    items.push(list.oldest.item);
    list.delete(list.oldest.item);
  }
  return items;
}

describe('TimedList', () => {
  it('has the item that was added first, of those that are left, also after it went and came again', () => {
    const random = new Random(7);
    const list = new TimedList<Item>();
    const items = Array.from({ length: 20 }, newItem);
    const expected: Item[] = [];
    for (let step = 0; step < 2_000; step++) {
      const one = random.pick(items as [Item, ...Item[]]);
      const at = expected.indexOf(one);
      if (random.next() < 0.5) {
        list.add(one, step);
        if (at === -1) expected.push(one);
      } else {
        list.delete(one);
        if (at !== -1) expected.splice(at, 1);
      }
      expect(list.oldest?.item).toBe(expected[0]);
    }
    expect(taken(list)).toEqual(expected);
    expect(list.oldest).toBeUndefined();
  });

  it('keeps the time of the first call', () => {
    const list = new TimedList<Item>();
    const one = newItem();
    list.add(one, 1);
    list.add(one, 2);
    expect(list.oldest?.sinceMs).toBe(1);
  });
});
