import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { paramsOf } from './electric.ts';
import { fenceProblem, orderProblem } from './fence-holds.ts';
import { letThrough, queryOf } from './let-through.ts';
import { loadParsers, PARSERS } from './syntax.ts';

/*
 * Not what somebody thought of, but all that PostgreSQL itself has: every word, function, type and
 * operator, each where it could do something.
 */

let database: PGlite;
beforeAll(async () => {
  [database] = await Promise.all([PGlite.create(), loadParsers()]);
});
afterAll(async () => {
  await database?.close();
});

async function namesOf(sql: string): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(`SELECT DISTINCT ${sql} ORDER BY 1`);
  return rows.map(({ name }) => name);
}

/** The clauses of the list that pass. */
function passingOf(clauses: readonly string[]): string[] {
  return clauses.filter((where) => {
    const query = letThrough(queryOf({ where }));
    if (query === undefined) return false;
    const fenced = paramsOf(query).get('where') ?? '';
    for (const parser of PARSERS) {
      expect([where, fenceProblem(fenced, where, parser)]).toEqual([where, undefined]);
    }
    return true;
  });
}

describe('of all that PostgreSQL has', () => {
  it('no word stands for more than a column', async () => {
    const words = await namesOf('word AS name FROM pg_get_keywords()');
    const passing = words.flatMap((word) =>
      passingOf([
        word,
        word.toUpperCase(),
        `(${word})`,
        `${word} = 'x'`,
        `${word} 'x' = id`,
        `id = ${word}`,
        `id ${word} 'x'`,
        `id ${word}`,
        `id ${word} id`,
        `id NOT ${word} id`,
        `id IS ${word}`,
        `id IS NOT ${word}`,
        `${word}(id)`,
        `${word}(id) = 'x'`,
        `${word}() = 'x'`,
        `id = ${word}('{x}')`,
        `id ${word} (id)`,
        `${word} id = 'x'`,
        `id = 'x' ${word} (id)`,
        `id = 'x' ${word} id = 'y'`,
      ]),
    );
    expect(words.length).toBeGreaterThan(400);
    expect(passing.length).toBeGreaterThan(words.length);
  });

  it('no word orders by more than a column', async () => {
    const words = await namesOf('word AS name FROM pg_get_keywords()');
    for (const word of words) {
      const orders = [word, `${word} DESC`, `id ${word}`, `id DESC ${word}`, `id NULLS ${word}`];
      for (const subset__order_by of [...orders, `id, ${word}`, `${word} NULLS FIRST`]) {
        if (letThrough(queryOf({ subset__order_by })) === undefined) continue;
        for (const parser of PARSERS) {
          expect([subset__order_by, orderProblem(subset__order_by, parser)]).toEqual([
            subset__order_by,
            undefined,
          ]);
        }
      }
    }
  });

  it('no function is called', async () => {
    const functions = await namesOf('proname AS name FROM pg_proc');
    const passing = functions.flatMap((name) =>
      passingOf([
        `${name}(id) = 'x'`,
        `id = ${name}('x')`,
        `${name}('x')`,
        `${name}() = id`,
        `"${name}"(id) = 'x'`,
        `pg_catalog.${name}(id)`,
      ]),
    );
    expect(functions.length).toBeGreaterThan(2_500);
    expect(passing).toEqual([]);
  });

  it('nothing is cast', async () => {
    const types = await namesOf('typname AS name FROM pg_type');
    const passing = types.flatMap((type) =>
      passingOf([
        `id::${type} IS NULL`,
        `id = 'x'::${type}`,
        `CAST(id AS ${type}) IS NULL`,
        `id = ${type} 'x'`,
        `id::"${type}" IS NULL`,
        `id::${type}[] IS NULL`,
      ]),
    );
    expect(types.length).toBeGreaterThan(500);
    expect(passing).toEqual([]);
  });

  it('no operator runs but those that are known', async () => {
    const operators = await namesOf('oprname AS name FROM pg_operator');
    const passing = operators.filter(
      (operator) => passingOf([`id ${operator} 'x'`, `id${operator}'x'`]).length > 0,
    );
    expect(operators.length).toBeGreaterThan(70);
    expect(passing.toSorted()).toEqual('< <= <> = > >='.split(' '));
  });
});
