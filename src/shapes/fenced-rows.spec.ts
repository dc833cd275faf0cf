import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseWhere } from '../../local/catalog/where-clause.ts';
import { WhereError } from '../../local/catalog/where-tokens.ts';
import { ownClause } from './clause-parser.ts';
import { SqlRefusal } from './sql-tokens.ts';

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

const fenced = (where: string): string => `("tenant" = 'acme') AND (${where})`;

/** The clause as the gateway prints it; undefined where it refuses. */
function printed(where: string): string | undefined {
  try {
    return ownClause(where, new Map(Object.entries(PARAMS)));
  } catch (error) {
    if (error instanceof SqlRefusal) return undefined;
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
    const rows = rowsOf(fenced(printed(where) ?? '')) ?? [];
    expect(rows.filter(({ tenant }) => tenant !== 'acme')).toEqual([]);
    expect(rows).toEqual(rowsOf(where)?.filter(({ tenant }) => tenant === 'acme'));
  });

  it.each([
    "'a' = 'a') OR ('a' = 'a'",
    "'a' = 'a') OR NOT ('a' <> 'a'",
    "id IS NULL) OR (tenant = 'other'",
  ])('would give them with %j, which is therefore refused', (where) => {
    const tenants = rowsOf(fenced(where))?.map(({ tenant }) => tenant);
    expect(tenants).toContain('other');
    expect(printed(where)).toBeUndefined();
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
        const clause = printed(where);
        if (clause === undefined) return;
        const rows = rowsOf(fenced(clause));
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
