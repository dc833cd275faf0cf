import { describe, expect, it } from '@jest/globals';
import { RecentMap } from './recent-map.ts';

const mapOf = (maxEntries: number, names: readonly string[]): RecentMap<string> => {
  const map = new RecentMap<string>(maxEntries);
  for (const name of names) map.set(name, `of ${name}`);
  return map;
};
const names = (count: number, of: string): string[] =>
  Array.from({ length: count }, (_, n) => `${of}-${n}`);

describe('RecentMap', () => {
  it('keeps the entries last used, and drops those that were not', () => {
    const map = mapOf(3, ['a', 'b', 'c', 'd']);
    map.get('a');
    for (const name of ['e', 'f']) map.set(name, `of ${name}`);
    for (const name of ['b', 'c']) expect(map.get(name)).toBeUndefined();
    for (const name of ['a', 'e', 'f']) expect(map.get(name)).toBe(`of ${name}`);
  });

  it('misses each of as many as it may hold once, whatever it held before', () => {
    const map = mapOf(10, []);
    const missesOf = (asked: readonly string[]): number => {
      const missed = asked.filter((name) => map.get(name) === undefined);
      for (const name of missed) map.set(name, `of ${name}`);
      return missed.length;
    };
    for (let lap = 0; lap < 3; lap++) missesOf(names(7, 'former'));
    const current = names(10, 'current');
    const misses = [1, 2, 3].map(() => current.reduce((sum, name) => sum + missesOf([name]), 0));
    expect(misses).toEqual([10, 0, 0]);
  });

  it('never holds more than twice what it must', () => {
    const all = names(100, 'reader');
    const map = mapOf(5, all);
    const held = all.filter((name) => map.get(name) !== undefined);
    expect(held.length).toBeLessThanOrEqual(10);
  });

  it('takes the same entry twice without dropping another one', () => {
    const map = mapOf(2, ['a', 'b', 'b', 'b']);
    for (const name of ['a', 'b']) expect(map.get(name)).toBe(`of ${name}`);
  });

  it('forgets a deleted entry, however long ago it was used', () => {
    const map = mapOf(1, ['a', 'b']);
    for (const name of ['a', 'b']) {
      map.delete(name);
      expect(map.get(name)).toBeUndefined();
    }
  });

  it('keeps nothing where it may hold nothing', () => {
    expect(mapOf(0, ['a']).get('a')).toBeUndefined();
  });
});
