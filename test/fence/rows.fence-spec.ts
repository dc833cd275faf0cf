import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Random } from '../soak/random.ts';
import { electricSql, paramsOf } from './electric.ts';
import { letThrough, queryOf, type Asked } from './let-through.ts';
import { mutated } from './mutation.ts';
import { randomCondition } from './random-clause.ts';
import { randomOrder } from './random-order.ts';
import { oneIn, seededRandom, whole } from './seed.ts';
import { loadParsers } from './syntax.ts';
import {
  COLUMNS,
  OTHERWISE_HIDDEN,
  PINNED_COLUMNS,
  TENANT,
  WITHOUT_OTHERS,
  WORLD,
  worldSql,
  type World,
} from './world.ts';

const ROUNDS = 2_000;
const ALL_COLUMNS = Object.keys(COLUMNS);

let database: PGlite;

beforeAll(async () => {
  [database] = await Promise.all([PGlite.create(), loadParsers()]);
  for (const world of [WORLD, WITHOUT_OTHERS, OTHERWISE_HIDDEN])
    await database.exec(worldSql(world));
});
afterAll(async () => {
  await database?.close();
});

interface Seen {
  rows?: readonly (readonly string[])[];
  error?: string;
}

/** The sync engine's result for a query on the given tables: rows, or PostgreSQL's error. */
async function seenIn({ schema }: World, query: string, columns: readonly string[]): Promise<Seen> {
  const sql = electricSql(query, schema, columns);
  await database.exec(`SET search_path = ${schema}`);
  try {
    const { rows } = await database.query<string[]>(sql, [], { rowMode: 'array' });
    return { rows };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** Whether the engine turns the query into SQL. */
function isServed(query: string): boolean {
  try {
    electricSql(query, 'any', ['id']);
    return true;
  } catch {
    return false;
  }
}

function randomClause(random: Random): string {
  const clause = randomCondition(random, whole(random, 3));
  return oneIn(random, 3) ? mutated(random, clause) : clause;
}

function randomSubset(random: Random): Asked {
  return {
    ...(oneIn(random, 2) && { subset__order_by: randomOrder(random) }),
    ...(oneIn(random, 4) && { subset__limit: String(whole(random, 4)) }),
    ...(oneIn(random, 4) && { subset__offset: String(whole(random, 3)) }),
  };
}

function randomAsked(random: Random): Asked {
  return {
    ...(!oneIn(random, 6) && { where: randomClause(random) }),
    ...(oneIn(random, 3) && {
      subset__where: randomClause(random),
      subset__params: JSON.stringify({ 1: 'other', 2: 'chat', 3: '10' }),
    }),
    ...randomSubset(random),
    params: ['other', TENANT, '10'],
  };
}

describe('a query that passes, run by PostgreSQL as Electric 1.4 has it', () => {
  it('gives no row of another tenant, and depends on none, nor on another table', async () => {
    const random = seededRandom('rows');
    let ran = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const query = letThrough(queryOf(randomAsked(random)));
      if (query === undefined || !isServed(query)) continue;
      expect(paramsOf(query).get('table')).toBe('entities');
      const seen = await seenIn(WORLD, query, ALL_COLUMNS);
      const tenants = (seen.rows ?? []).map((row) => row[ALL_COLUMNS.indexOf('tenant')]);
      expect([query, tenants.filter((tenant) => tenant !== TENANT)]).toEqual([query, []]);
      expect([query, seen]).toEqual([query, await seenIn(WITHOUT_OTHERS, query, ALL_COLUMNS)]);
      if (seen.rows) ran++;
    }
    expect(ran).toBeGreaterThan(ROUNDS / 10);
  });

  it('depends on no column that the token does not pin', async () => {
    const random = seededRandom('hidden columns');
    const shape = { table: 'entities', columns: PINNED_COLUMNS };
    const columns = PINNED_COLUMNS.join(',');
    let ran = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const asked = oneIn(random, 4) ? randomAsked(random) : randomSubset(random);
      const query = letThrough(queryOf({ ...asked, columns }), shape);
      if (query === undefined || !isServed(query)) continue;
      const seen = await seenIn(WORLD, query, PINNED_COLUMNS);
      const otherwise = await seenIn(OTHERWISE_HIDDEN, query, PINNED_COLUMNS);
      expect([query, seen]).toEqual([query, otherwise]);
      if (seen.rows) ran++;
    }
    expect(ran).toBeGreaterThan(ROUNDS / 10);
  });
});

describe('what does not pass', () => {
  /** The query as it would go on without the check of its clause and its order. */
  const unchecked = ({ where, ...asked }: Asked): string =>
    queryOf({ ...asked, where: `("tenant" = '${TENANT}') AND (${where})` });

  it.each([
    ["(id IS NULL OR tenant = 'other') IS NOT NULL"],
    ["true IS NOT DISTINCT FROM (false OR tenant = 'other')"],
    ["done BETWEEN false AND (false OR tenant = 'other')"],
    ["CAST(tenant = 'other' OR done AS bool)"],
    ["id = id) OR (tenant = 'other'"],
  ])('would give rows of another: %s', async (where) => {
    expect(letThrough(queryOf({ where }))).toBeUndefined();
    const { rows } = await seenIn(WORLD, unchecked({ where }), ['tenant']);
    expect(new Set(rows?.flat())).toContain('other');
  });

  // PostgreSQL runs these before the condition on the tenant, because they cost less or come first in its plan.
  it.each([
    ['a division by zero', 'NOT (pay / pay IS NOT NULL)'],
    ['a remainder', '(1 % pay) IS NULL'],
    ['an overflow', '(pay + 2147483600) IS NULL'],
    ['a pattern', String.raw`type LIKE 'ze\'`],
  ])('would tell of another row by %s', async (_, where) => {
    expect(letThrough(queryOf({ where }))).toBeUndefined();
    expect(letThrough(queryOf({ subset__where: where }))).toBeUndefined();
    const { error } = await seenIn(WORLD, unchecked({ where }), ['id']);
    expect([where, error]).toEqual([where, expect.any(String)]);
    expect(await seenIn(WITHOUT_OTHERS, unchecked({ where }), ['id'])).toHaveProperty('rows');
  });

  it.each<[string, Asked]>([
    ['a clause', { where: 'pay < (SELECT max(pay) / 8 FROM payroll)' }],
    ['a clause without a subquery', { where: "pg_relation_size('payroll') > 0" }],
    ['an order', { where: 'true', subset__order_by: '(select 1 / max(pay - 200) from payroll)' }],
  ])('would tell of another table: %s', async (_, asked) => {
    expect(letThrough(queryOf(asked))).toBeUndefined();
    const query = unchecked(asked);
    expect(await seenIn(WORLD, query, ['id'])).not.toEqual(
      await seenIn(WITHOUT_OTHERS, query, ['id']),
    );
  });

  it.each<[string, Asked]>([
    ['a clause', { where: 'pay > 15' }],
    ['an order', { where: 'true', subset__order_by: 'pay' }],
  ])('would tell of hidden columns: %s', async (_, asked) => {
    const shape = { table: 'entities', columns: PINNED_COLUMNS };
    const columns = PINNED_COLUMNS.join(',');
    expect(letThrough(queryOf({ ...asked, columns }), shape)).toBeUndefined();
    const query = unchecked(asked);
    expect(await seenIn(WORLD, query, PINNED_COLUMNS)).not.toEqual(
      await seenIn(OTHERWISE_HIDDEN, query, PINNED_COLUMNS),
    );
  });
});
