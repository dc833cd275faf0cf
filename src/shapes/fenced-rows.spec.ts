import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseWhere } from '../../local/catalog/where-clause.ts';
import { WhereError } from '../../local/catalog/where-tokens.ts';
import { fencedWhere, whereProblem } from './where-clause.ts';

const COLUMNS = ['id', 'tenant', 'type', 'status'];
const ROWS = ['acme', 'other', 'acme2', null].flatMap((tenant) =>
  ['chat', 'other', null].map((type, i) => ({
    id: `${tenant}-${i}`,
    tenant,
    type,
    status: 'idle',
  })),
);
const PARAMS = { 1: 'other', 2: 'chat' };

/** The rows that a real evaluation of the clause lets through; undefined where it is refused. */
function rowsOf(where: string): typeof ROWS | undefined {
  try {
    const matches = parseWhere(where, { columns: COLUMNS, params: PARAMS });
    return ROWS.filter((row) => matches(row) === true);
  } catch (error) {
    if (error instanceof WhereError) return undefined;
    throw error;
  }
}

describe('a fenced clause, run on rows of several tenants', () => {
  it.each([
    "tenant = 'other'",
    "tenant = 'acme' OR tenant = 'other'",
    "type = 'chat' OR tenant = $1",
    "NOT tenant = 'acme'",
    'tenant IS NULL',
    'id IS NOT NULL',
    "'a' = 'a' OR 'b' = 'b'",
    "tenant <> 'acme' OR 'a' = 'a'",
    "tenant IN ('other', 'acme2')",
  ])('gives no row of another with %j', (where) => {
    expect(whereProblem(where)).toBeUndefined();
    const tenants = rowsOf(fencedWhere('tenant', 'acme', where))?.map(({ tenant }) => tenant);
    expect(new Set([...(tenants ?? []), 'acme'])).toEqual(new Set(['acme']));
  });

  it.each([
    "'a' = 'a') OR ('a' = 'a'",
    "'a' = 'a') OR NOT ('a' <> 'a'",
    "id IS NULL) OR (tenant = 'other'",
  ])('would give them with %j, which is therefore refused', (where) => {
    const tenants = rowsOf(fencedWhere('tenant', 'acme', where))?.map(({ tenant }) => tenant);
    expect(tenants).toContain('other');
    expect(whereProblem(where)).toBe('closes a parenthesis that it did not open');
  });

  it('gives all rows of its own where nothing narrower is asked', () => {
    expect(rowsOf(fencedWhere('tenant', 'acme', undefined))?.map(({ id }) => id)).toEqual([
      'acme-0',
      'acme-1',
      'acme-2',
    ]);
  });

  it('gives no row of another, whatever is asked', () => {
    const operand = fc.constantFrom(
      'tenant',
      '"tenant"',
      'type',
      "'other'",
      "'acme'",
      "'a'",
      '$1',
      'NULL',
    );
    const comparison = fc
      .tuple(operand, fc.constantFrom('=', '<>', '!='), operand)
      .map((parts) => parts.join(' '));
    const joint = fc.constantFrom(
      ' AND ',
      ' OR ',
      ' OR NOT ',
      ') OR (',
      ')(',
      ' ',
      '(',
      ')',
      "'",
      '"',
    );
    const clause = fc
      .array(fc.tuple(comparison, joint), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.flat().slice(0, -1).join(''));
    let ran = 0;
    fc.assert(
      fc.property(clause, (where) => {
        if (whereProblem(where) !== undefined) return;
        const rows = rowsOf(fencedWhere('tenant', 'acme', where));
        if (rows === undefined) return;
        ran++;
        expect(rows.filter(({ tenant }) => tenant !== 'acme')).toEqual([]);
        // And exactly those that the clause alone would give of its own rows.
        expect(rows).toEqual(rowsOf(where)?.filter(({ tenant }) => tenant === 'acme'));
      }),
      { numRuns: 5_000 },
    );
    expect(ran).toBeGreaterThan(500);
  });
});
