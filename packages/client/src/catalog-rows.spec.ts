import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { CatalogRows, type CatalogMessage, type CatalogRow } from './catalog-rows.ts';

const UP_TO_DATE: CatalogMessage = { headers: { control: 'up-to-date' } };
const MUST_REFETCH: CatalogMessage = { headers: { control: 'must-refetch' } };
const message = (operation: string, key: string, value: CatalogRow = {}): CatalogMessage => ({
  key,
  value,
  headers: { operation },
});

describe('the rows of a catalog', () => {
  it('are told when all are there, and then change by change', () => {
    const rows = new CatalogRows();
    expect(rows.apply([message('insert', 'a', { n: 1, s: 'x' })])).toEqual([]);
    expect(rows.isComplete).toBe(false);
    expect(rows.apply([message('insert', 'b', { n: 2 }), UP_TO_DATE])).toEqual([
      { operation: 'insert', key: 'a', row: { n: 1, s: 'x' }, before: {} },
      { operation: 'insert', key: 'b', row: { n: 2 }, before: {} },
    ]);
    expect(
      rows.apply([message('update', 'a', { n: 3 }), message('delete', 'b'), UP_TO_DATE]),
    ).toEqual([
      { operation: 'update', key: 'a', row: { n: 3, s: 'x' }, before: { n: 1 } },
      { operation: 'delete', key: 'b', row: { n: 2 }, before: {} },
    ]);
    expect(rows.rows).toEqual([{ n: 3, s: 'x' }]);
  });

  it('are told by what differs when all are fetched again, and stay meanwhile', () => {
    const rows = new CatalogRows();
    rows.apply(['a', 'b', 'c'].map((key) => message('insert', key, { key, n: 1 })));
    rows.apply([UP_TO_DATE]);
    expect(rows.apply([MUST_REFETCH, message('insert', 'b', { key: 'b', n: 2 })])).toEqual([]);
    expect(rows.rows).toHaveLength(3);
    const again = [message('insert', 'c', { key: 'c', n: 1 }), message('insert', 'd', { n: 1 })];
    expect(rows.apply([...again, UP_TO_DATE])).toEqual([
      { operation: 'update', key: 'b', row: { key: 'b', n: 2 }, before: { n: 1 } },
      { operation: 'insert', key: 'd', row: { n: 1 }, before: {} },
      { operation: 'delete', key: 'a', row: { key: 'a', n: 1 }, before: {} },
    ]);
  });

  it('tell nothing of what changes nothing', () => {
    const rows = new CatalogRows();
    rows.apply([message('insert', 'a', { list: [1n], n: null }), UP_TO_DATE]);
    expect(rows.apply([message('insert', 'a', { list: [1n], n: null })])).toEqual([]);
    expect(rows.apply([message('update', 'a', { n: null })])).toEqual([]);
    expect(rows.apply([message('delete', 'unknown')])).toEqual([]);
  });

  it('follow from the changes alone, wherever all are fetched again', () => {
    const change = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      n: fc.option(fc.nat(2)),
      refetch: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const real = new Map<string, CatalogRow>();
        const seen = new Map<string, CatalogRow>();
        const rows = new CatalogRows();
        const take = (messages: CatalogMessage[]): void => {
          for (const { operation, key, row } of rows.apply(messages)) {
            expect(seen.has(key)).toBe(operation !== 'insert');
            if (operation === 'delete') seen.delete(key);
            else seen.set(key, row);
          }
        };
        take([UP_TO_DATE]);
        for (const { key, n, refetch } of changes) {
          if (n === null) real.delete(key);
          else real.set(key, { key, n });
          if (refetch) {
            const all = [...real].map(([name, row]) => message('insert', name, row));
            take([MUST_REFETCH, ...all, UP_TO_DATE]);
          } else {
            take([n === null ? message('delete', key) : message('insert', key, { key, n })]);
          }
          expect(seen).toEqual(real);
        }
      }),
    );
  });
});
