import { describe, expect, it } from '@jest/globals';
import { parseOrderBy, printOrderBy } from './order-by.ts';
import { SqlRefusal } from './sql-tokens.ts';

describe('an order of a read token', () => {
  it.each([
    ['id', '"id"'],
    ['"id"', '"id"'],
    [
      'Status DESC, "Created At" asc Nulls First , x_1 NULLS LAST',
      '"status" DESC, "Created At" ASC NULLS FIRST, "x_1" NULLS LAST',
    ],
    ['"created_at" DESC NULLS FIRST', '"created_at" DESC NULLS FIRST'],
    ['"a""b",\n"c,d"', '"a""b", "c,d"'],
    ['größe DESC', '"größe" DESC'],
    ['date, values, nulls, first', '"date", "values", "nulls", "first"'],
    [`"${'x'.repeat(63)}"`, `"${'x'.repeat(63)}"`],
  ])('prints %j', (text, expected) => {
    expect(printOrderBy(parseOrderBy(text))).toBe(expected);
  });

  it.each([
    // Electric before 1.5 answered this one with the row of a table that no token may read.
    '(select cast(pay as int) from payroll)',
    '',
    ' ',
    ',',
    'id,',
    ',id',
    'id,,x',
    'id x',
    'id DESC ASC',
    'id DESC DESC',
    'id NULLS',
    'id NULLS FIRST LAST',
    'id NULLS FIRST DESC',
    'nulls first',
    'id USING <',
    'id COLLATE "C"',
    'id + 1',
    'id::text',
    'lower(id)',
    'id[1]',
    'id.x',
    '"entities"."id"',
    '(id)',
    '1',
    "'id'",
    '$1',
    'null',
    'true',
    'current_user',
    'user',
    'select',
    'case',
    'DESC',
    'id; select 1',
    'id -- x',
    'id /* x */',
    'id LIMIT 1',
    'id, (select 1)',
    'U&"\\0069d"',
    'u&"id"',
    '"id',
    '""',
    '"id"x',
    'id\0',
    'id\u00a0DESC x',
    'li\u212ae deſc',
    'x'.repeat(64),
    `"${'ü'.repeat(32)}"`,
  ])('refuses %j', (text) => {
    expect(() => parseOrderBy(text)).toThrow(SqlRefusal);
  });
});
