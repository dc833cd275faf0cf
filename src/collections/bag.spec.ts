import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Bag, type BagItem } from './bag.ts';

interface Named extends BagItem {
  name: number;
}

describe('Bag', () => {
  it('holds what a Set would hold, whatever comes and goes', () => {
    const step = fc.record({ name: fc.integer({ min: 0, max: 9 }), isAdded: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const items = Array.from({ length: 10 }, (_, name): Named => ({ name }));
        const bag = new Bag<Named>();
        const set = new Set<number>();
        for (const { name, isAdded } of steps) {
          const item = items[name] as Named;
          if (isAdded && !set.has(name)) {
            bag.add(item);
            set.add(name);
          } else if (!isAdded) {
            bag.delete(item);
            set.delete(name);
          }
          expect(bag.size).toBe(set.size);
          expect(new Set(bag.snapshot().map((each) => each.name))).toEqual(set);
        }
      }),
    );
  });

  it('gives all it holds and is empty then', () => {
    const [a, b]: Named[] = [{ name: 1 }, { name: 2 }];
    const bag = new Bag<Named>();
    bag.add(a as Named);
    bag.add(b as Named);
    expect(bag.first).toBe(a);
    expect(bag.takeAll()).toEqual([a, b]);
    expect(bag.size).toBe(0);
    bag.delete(a as Named);
    bag.add(b as Named);
    expect(bag.snapshot()).toEqual([b]);
  });
});
