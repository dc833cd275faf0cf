import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Random } from '../soak/random.ts';
import { shareOf } from '../support/share.ts';
import { electricSql, paramsOf } from './electric.ts';
import { letThrough, queryOf, type Asked } from './let-through.ts';
import { mutated } from './mutation.ts';
import { FALLIBLE, PARAMS, randomCondition } from './random-clause.ts';
import { randomOrder } from './random-order.ts';
import { loadParsers } from './syntax.ts';
import {
  COLUMNS,
  PINNED_COLUMNS,
  randomRow,
  TENANT,
  worldSql,
  type Row,
  type World,
} from './world.ts';

const ROUNDS = shareOf(3_000);
const ALL_COLUMNS = Object.keys(COLUMNS);

const random = Random.for(process.env.FENCE_SEED, 'worlds');
const rowsOf = (count: number, letter: string, tenants: readonly (string | null)[]): Row[] =>
  Array.from({ length: count }, (_, i) =>
    randomRow(random, `${letter}${i}`, tenants[i % tenants.length] ?? null),
  );
const OWN = rowsOf(8, 'a', [TENANT]);
const OTHERS = [rowsOf(12, 'b', ['other', 'acme2', null, '']), rowsOf(60, 'c', ['other'])];
/** For each way of tuning: the tenant alone, and the same rows among those of others. */
const WORLDS: readonly (readonly World[])[] = [false, true].map((isTuned, i) => {
  const among = (others: Row[], j: number): World => ({
    schema: `crowded${i}${j}`,
    rows: [...OWN.slice(0, 3), ...others, ...OWN.slice(3)],
    isTuned,
  });
  return [{ schema: `lonely${i}`, rows: OWN, isTuned }, ...OTHERS.map(among)];
});
const [CROWDED] = WORLDS[0]!.slice(1) as [World];
const LONELY = WORLDS[0]![0]!;
/** The rows of the first world with other values in all columns but the pinned ones. */
const OTHERWISE_HIDDEN: World = {
  ...CROWDED,
  schema: 'hidden',
  rows: CROWDED.rows.map((row, i) => ({
    ...randomRow(random, String(row.id), row.tenant ?? null),
    type: row.type ?? null,
    made: row.made ?? null,
    pay: String(i),
  })),
};
let database: PGlite;

beforeAll(async () => {
  [database] = await Promise.all([PGlite.create(), loadParsers()]);
  for (const world of [...WORLDS.flat(), OTHERWISE_HIDDEN]) {
    await database.exec(worldSql(world));
  }
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

function randomClause(from: Random): string {
  const clause = randomCondition(from, from.whole(0, 3));
  return from.oneIn(4) ? mutated(from, clause) : clause;
}

function randomSubset(from: Random): Asked {
  return {
    ...(from.oneIn(2) && { subset__order_by: randomOrder(from) }),
    ...(from.oneIn(4) && { subset__limit: String(from.whole(0, 4)) }),
    ...(from.oneIn(4) && { subset__offset: String(from.whole(0, 3)) }),
  };
}

function randomAsked(from: Random): Asked {
  return {
    ...(!from.oneIn(6) && { where: randomClause(from) }),
    ...(from.oneIn(3) && {
      subset__where: randomClause(from),
      subset__params: JSON.stringify(PARAMS),
    }),
    ...randomSubset(from),
    params: Object.values(PARAMS),
  };
}

describe('a query that passes, run by PostgreSQL as Electric has it', () => {
  it('has the same answer, errors included, whatever the rows of other tenants are', async () => {
    const from = Random.for(process.env.FENCE_SEED, 'rows');
    const ran = { rows: 0, error: 0 };
    for (let i = 0; i < ROUNDS; i++) {
      const query = letThrough(queryOf(randomAsked(from)));
      if (query === undefined || !isServed(query)) continue;
      expect(paramsOf(query).get('table')).toBe('entities');
      for (const [lonely, ...crowded] of WORLDS as [World, ...World[]][]) {
        const seen = await seenIn(lonely, query, ALL_COLUMNS);
        for (const world of crowded) {
          expect([query, await seenIn(world, query, ALL_COLUMNS)]).toEqual([query, seen]);
        }
        ran[seen.rows ? 'rows' : 'error']++;
      }
    }
    // Of clauses that are all refused it would say nothing.
    expect(ran.rows).toBeGreaterThan(ROUNDS / 4);
    expect(ran.error).toBeGreaterThan(ROUNDS / 40);
  });

  it('depends on no column that the token does not pin', async () => {
    const from = Random.for(process.env.FENCE_SEED, 'hidden columns');
    const shape = { table: 'entities', columns: PINNED_COLUMNS };
    const columns = PINNED_COLUMNS.join(',');
    let ran = 0;
    for (let i = 0; i < ROUNDS / 2; i++) {
      const asked = from.oneIn(4) ? randomAsked(from) : randomSubset(from);
      const query = letThrough(queryOf({ ...asked, columns }), shape);
      if (query === undefined || !isServed(query)) continue;
      const seen = await seenIn(CROWDED, query, PINNED_COLUMNS);
      const otherwise = await seenIn(OTHERWISE_HIDDEN, query, PINNED_COLUMNS);
      expect([query, seen]).toEqual([query, otherwise]);
      if (seen.rows) ran++;
    }
    expect(ran).toBeGreaterThan(ROUNDS / 20);
  });
});

describe('what does not pass', () => {
  /** The query as it would go on without the check of its clause and its order. */
  const unchecked = ({ where, ...asked }: Asked): string =>
    queryOf({ ...asked, where: `("tenant" = '${TENANT}') AND (${where})` });

  it.each([
    ["(id IS NULL OR tenant = 'other') IS NOT NULL"],
    ["true IS NOT DISTINCT FROM (false OR tenant = 'other')"],
    ["CAST(tenant = 'other' OR true AS bool)"],
    ["id = id) OR (tenant = 'other'"],
  ])('would give rows of another: %s', async (where) => {
    expect(letThrough(queryOf({ where }))).toBeUndefined();
    const { rows } = await seenIn(CROWDED, unchecked({ where }), ['tenant']);
    expect(new Set(rows?.flat())).toContain('other');
  });

  // PostgreSQL runs these before the condition on the tenant, because they cost less or come first in its plan.
  it.each(FALLIBLE.map((all, i) => [...all, i] as const))(
    'would tell of another row by an error: %s',
    async (where, harmless, fatal, i) => {
      const rows = [{ ...harmless, id: 'a', tenant: TENANT }];
      const before = { schema: `before${i}`, rows, isTuned: false };
      const others = [{ ...harmless, ...fatal, id: 'b', tenant: 'other' }];
      const after = { ...before, schema: `after${i}`, rows: [...rows, ...others] };
      for (const world of [before, after]) await database.exec(worldSql(world));

      expect(letThrough(queryOf({ where }))).toBeUndefined();
      expect(letThrough(queryOf({ subset__where: where }))).toBeUndefined();
      expect(await seenIn(before, unchecked({ where }), ['id'])).toHaveProperty('rows');
      expect(await seenIn(after, unchecked({ where }), ['id'])).toHaveProperty('error');
    },
  );

  it.each<[string, Asked]>([
    ['a clause', { where: 'pay < (SELECT max(pay) / 8 FROM payroll)' }],
    ['a clause without a subquery', { where: "pg_relation_size('payroll') > 0" }],
    ['an order', { where: 'true', subset__order_by: '(select 1 / max(pay - 200) from payroll)' }],
  ])('would tell of another table: %s', async (_, asked) => {
    expect(letThrough(queryOf(asked))).toBeUndefined();
    const query = unchecked(asked);
    expect(await seenIn(CROWDED, query, ['id'])).not.toEqual(await seenIn(LONELY, query, ['id']));
  });

  it.each<[string, Asked]>([
    ['a clause', { where: 'pay > 15' }],
    ['an order', { where: 'true', subset__order_by: 'pay' }],
  ])('would tell of hidden columns: %s', async (_, asked) => {
    const shape = { table: 'entities', columns: PINNED_COLUMNS };
    const columns = PINNED_COLUMNS.join(',');
    expect(letThrough(queryOf({ ...asked, columns }), shape)).toBeUndefined();
    const query = unchecked(asked);
    expect(await seenIn(CROWDED, query, PINNED_COLUMNS)).not.toEqual(
      await seenIn(OTHERWISE_HIDDEN, query, PINNED_COLUMNS),
    );
  });
});
