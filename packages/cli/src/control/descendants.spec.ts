import { expect, it } from '@jest/globals';
import type { EntityRow } from '../../../client/src/index.ts';
import { descendantsOf } from './descendants.ts';

const row = (url: string, parent: string | null) => ({ url, parent }) as EntityRow;

it('has each descendant once, parents first, also where somebody is their own ancestor', () => {
  const rows = [
    row('d', 'b'),
    row('a', 'd'),
    row('b', 'a'),
    row('c', 'a'),
    row('e', 'e'),
    row('x', null),
    row('b', 'c'),
  ];
  expect(descendantsOf('a', rows).map(({ url }) => url)).toEqual(['b', 'c', 'd']);
  expect(descendantsOf('e', rows)).toEqual([]);
  expect(descendantsOf('x', [])).toEqual([]);
});
