import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UnorderedList, type UnorderedListItem } from './unordered-list.ts';

interface Named extends UnorderedListItem {
  name: number;
}

describe('UnorderedList', () => {
  it('holds what a Set would hold, whatever comes and goes', () => {
    const step = fc.record({ name: fc.integer({ min: 0, max: 9 }), isAdded: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const items = Array.from({ length: 10 }, (_, name): Named => ({ name }));
        const list = new UnorderedList<Named>();
        const set = new Set<number>();
        for (const { name, isAdded } of steps) {
          const item = items[name] as Named;
          if (isAdded && !set.has(name)) {
            list.add(item);
            set.add(name);
          } else if (!isAdded) {
            list.delete(item);
            set.delete(name);
          }
          expect(list.size).toBe(set.size);
          expect(new Set(list.snapshot().map((each) => each.name))).toEqual(set);
        }
      }),
    );
  });
});
