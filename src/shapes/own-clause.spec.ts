import { describe, expect, it } from '@jest/globals';
import { ownWhereProblem } from './where-clause.ts';

describe('ownWhereProblem', () => {
  it.each([
    // What @electric-sql/client compiles, and TanStack DB with it.
    '"status" = $1',
    '("status" = $1) AND (("n" >= $2) OR (NOT ("n" < $3)))',
    '"id" = ANY($1)',
    '"name" LIKE $1',
    'UPPER("name") ILIKE $1',
    'LENGTH(COALESCE("name", $1)) > 3',
    'CONCAT("a", "b") = $12',
    '"parent" IS NULL',
    // What the real engine took when it was tried.
    "type='chat' AND (status = 'idle' OR status IS NOT NULL)",
    'a BETWEEN 1 AND 2',
    'a NOT BETWEEN SYMMETRIC -1 AND +2.5e-3',
    "concat(a::text, 'x') <> 'y' || 'x'",
    "created_at > '2026-11-22'::timestamptz",
    "created_at > timestamp '2026-11-22' + interval '1 day'",
    'n > CAST($1 AS numeric(10, 2))::double precision',
    "b = '2026-11-22'::timestamp(3) with time zone AT TIME ZONE 'UTC'",
    'CAST(n AS text) = a::varchar(10)',
    'true',
    'archived IS NOT TRUE',
    'a IS DISTINCT FROM b',
    'a IS NOT DISTINCT FROM NULL',
    "a NOT IN ('x', 'y') AND a NOT ILIKE '%z%'",
    "tags @> ARRAY['x', 'y'] AND tags[1] = 'x' AND tags[:2] <> tags[2:]",
    'n = 7 % 2 OR ~ 1 & 4 = |/ 16 AND n BETWEEN 1 + 1 AND 2 * 3',
    "a LIKE 'x\\\\y%' AND upper(a) NOT ILIKE $1::text",
    "'{x,y}'::text[] && tags",
    // Words that PostgreSQL lets name a column.
    'date = text AND values = between',
    '"select" = 1',
    'selected = 1',
    'größe = 1',
  ])('lets %j pass', (where) => {
    expect(ownWhereProblem(where)).toBeUndefined();
  });

  it.each([
    'id IN (SELECT id FROM entities)',
    "EXISTS (select 1 FROM secrets WHERE tenant = 'other')",
    'id IN (TABLE secrets)',
    'id = ANY(\nSeLeCt\tid)',
    "id IN (SELECT'x')",
    'id IN (VALUES (1) UNION SELECT id FROM secrets)',
    "id IN (VALUES ('x'))",
    '(select(1))',
    '(SELECT)',
    'table',
  ])('tells that %j holds a subquery', (where) => {
    expect(ownWhereProblem(where)).toBe('must not hold a subquery');
  });

  it.each([
    ['functions that read', "query_to_xml('select * from payroll', true, true, '') IS NOT NULL"],
    ['a file', "pg_read_file('/etc/passwd') = id"],
    ['settings', "current_setting('x') = id"],
    ['a large object', 'lo_get(1) = id'],
    ['another database', "dblink('x', 'y') IS NULL"],
    ['what takes time', 'pg_sleep(10) IS NULL'],
    ['a quoted function', '"pg_sleep"(10) IS NULL'],
    ['one with a schema', "pg_catalog.lower(id) = 'x'"],
    ['one by its notation as a field', 'entities.row_to_json IS NULL'],
    ['a function without parentheses', 'current_user = id'],
    ['a cast that looks up a table', "'payroll'::regclass IS NULL"],
    ['the same as a constant', "regclass 'payroll' IS NULL"],
    ['the same as CAST', "CAST('payroll' AS regclass) IS NULL"],
    ['a quoted type', `'x'::"char" = 'x'`],
    ['a type by another', 'a::b%TYPE = 1'],
    ['an operator by name', "a OPERATOR(pg_catalog.=) 'x'"],
    ['an unknown operator', "a ~ '^(x+)+$'"],
    ['another unknown operator', 'a =# b'],
    ['clauses behind', 'a = 1 ORDER BY (b)'],
    ['clauses behind by a comma', 'a = 1, b = 2'],
    ['NOT after an operator', '1 / NOT 1 = pay'],
    ['NOT after a sign', '- NOT 1 = pay'],
    ['an alias', 'a b'],
    ['two strings', "a = 'x'\n'y'"],
    ['a bit string', "a = b'101'"],
    ['an array of a subquery', 'id = ANY(ARRAY(SELECT id))'],
    ['a row', '(a, b) = (1, 2)'],
    ['$0', 'a = $0'],
    ['$01', 'a = $01'],
    ['a collation', 'a COLLATE "C" = b'],
    ['CASE', 'CASE WHEN a THEN b ELSE c END'],
    ['an aggregate', 'count(*) > 1'],
    ['DISTINCT in a call', 'concat(DISTINCT a) = b'],
    ['a named argument', 'concat(a => b) = c'],
    // To PostgreSQL these are names, whatever Unicode folds them to.
    ['a word with a Kelvin sign', 'a li\u212ae b'],
    ['a word with a long s', 'a i\u017f null'],
    ['a no-break space', 'a\u00a0= 1 b'],
  ])('refuses %s', (_, where) => {
    expect(ownWhereProblem(where)).toMatch(
      /^has at character \d+ what does not pass with a read token$/,
    );
  });

  // PostgreSQL may apply these to rows of other tenants before the fence, and their errors reveal values.
  it.each([
    ['a division', 'pay / pay IS NULL', 5],
    ['a division beside a comparison', '1 = 2 / pay', 7],
    ['an overflow', 'n + 1 > 2', 3],
    ['a sign', '- n > 2', 1],
    ['a sign before another', 'n = - @ n', 5],
    ['an overflow in BETWEEN', 'n BETWEEN 1 AND n * 2', 19],
    ['an overflow in parentheses', '(1 + (n)) = 2', 4],
    ['a concatenation of arrays', "a || 'x' = b", 3],
    ['a cast', 'a::int = 1', 2],
    ['a cast to an array', 'a::text[] IS NULL', 2],
    ['CAST', 'CAST(a AS date) IS NULL', 1],
    ['a function that casts', 'int4(a) = 1', 1],
    ['a time zone', 'made AT TIME ZONE zone IS NULL', 6],
    ['an array of columns', 'ARRAY[a, b] IS NULL', 1],
    ['a pattern in a column', 'a LIKE b', 8],
    ['a pattern that is made of columns', 'a LIKE lower(b)', 8],
    ['a pattern of an operator', 'a ~~ b', 6],
    ['a pattern as a function', "like(a, 'x')", 1],
    ['an overflow under NOT', 'NOT n + 1 = 2', 7],
    ['an index that fails', 'tags[1 / n] IS NULL', 8],
  ])('refuses %s of a column', (_, where, at) => {
    expect(ownWhereProblem(where)).toBe(
      `has at character ${at} an operation on a column that can fail, and its error could reveal other rows`,
    );
  });

  it.each([
    ['a constant', String.raw`a LIKE 'x\'`, ''],
    ['a parameter', 'a NOT ILIKE $1', 'x\\'],
  ])('refuses a pattern that ends with a backslash in %s', (_, where, param) => {
    expect(ownWhereProblem(where, new Map([['1', param]]))).toMatch(
      /^has at character \d+ a pattern that ends with a backslash$/,
    );
  });

  it('refuses an encoding as the second argument of length', () => {
    expect(ownWhereProblem("length(a, 'UTF8') = 1")).toMatch(/does not pass with a read token$/);
  });

  it('tells where, and not what', () => {
    expect(ownWhereProblem("id = 'x' AND secret(id)")).toBe(
      'has at character 14 what does not pass with a read token',
    );
    expect(ownWhereProblem('a =')).toBe('ends too early');
  });

  it.each([
    ['parentheses', '('.repeat(4_000) + 'a' + ')'.repeat(4_000)],
    ['subscripts', 'a' + '[b'.repeat(4_000) + ']'.repeat(4_000)],
    ['calls', 'lower('.repeat(2_000) + 'a' + ')'.repeat(2_000)],
  ])('does not follow %s without end', (_, where) => {
    expect(ownWhereProblem(where)).toBe('is nested too deep');
  });

  it('refuses what does not stand for itself, too', () => {
    expect(ownWhereProblem('a = 1) OR (b = 2')).toBe('closes a parenthesis that it did not open');
    expect(ownWhereProblem('')).toBe('is empty');
  });
});
