import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DatabaseSync } from 'node:sqlite';
import type { Row } from './tables.ts';
import { parseWhere } from './where-clause.ts';

const columns = ['type', 'status', 'parent', 'Mixed "case"', 'updated_at'];
const types = { updated_at: 'timestamptz' } as const;
const params = { '1': 'idle', '2': "it's", '3': '2026-01-01', '4': '{busy,idle}' };
const row: Row = {
  type: 'echo',
  status: 'idle',
  parent: null,
  'Mixed "case"': 'x',
  updated_at: '2026-07-01 10:00:00.5+00',
};

function evaluate(clause: string, on: Row = row): boolean | null {
  return parseWhere(clause, { columns, types, params })(on);
}

describe('parseWhere', () => {
  it.each([
    ["status = 'idle'", true],
    ["status = 'Idle'", false],
    ["status <> 'idle'", false],
    ["status != 'busy'", true],
    ["'idle' = status", true],
    ['status = $1', true],
    ["$2 = 'it''s'", true],
    ["status IN ('busy', $1)", true],
    ["status NOT IN ('busy', 'gone')", true],
    ['type = status', false],
    ["STATUS = 'idle'", true],
    [`"Mixed ""case""" = 'x'`, true],
    ['"status" = \'idle\'', true],
    ['parent IS NULL', true],
    ['parent IS NOT NULL', false],
    ["status = 'idle' AND type = 'echo'", true],
    ["status = 'busy' OR type = 'echo'", true],
    ["NOT status = 'idle' OR type = 'echo'", true],
    // AND binds closer than OR, NOT closer than both.
    ["type = 'echo' OR type = 'echo' AND status = 'busy'", true],
    ["(type = 'echo' OR type = 'echo') AND status = 'busy'", false],
    ["NOT (status = 'idle' AND type = 'other')", true],
    ["\t(\n(status='idle')\r\n) ", true],
    // What is inside a string is never syntax.
    ["status = 'idle'' OR ''1''=''1'", false],
    ["status = 'a' OR '--' = '--'", true],
    ["status > 'a'", true],
    ["status <= 'idle' AND status >= 'idle'", true],
    ["status < 'idle'", false],
    ["status BETWEEN 'a' AND 'j' AND type = 'echo'", true],
    ["status NOT BETWEEN 'a' AND 'j'", false],
    ["status LIKE 'i%'", true],
    ["status LIKE 'I%'", false],
    ["status ILIKE 'I_L%'", true],
    ["status NOT LIKE '%z%'", true],
    ["'50%' LIKE '50\\%'", true],
    ["'50x' LIKE '50\\%'", false],
    ["'a.c' LIKE 'abc'", false],
    ["type || '-' || status = 'echo-idle'", true],
    ["lower('ECHO') = type AND upper(type) = 'ECHO'", true],
    ["status = ANY('{busy,idle}')", true],
    ["status = ANY('{busy,idle}'::text[])", true],
    ['status = ANY($4)', true],
    ["status = ANY(ARRAY['busy', 'gone'])", false],
    ["status = ANY('{}')", false],
    ["parent IS DISTINCT FROM 'x'", true],
    ['parent IS NOT DISTINCT FROM NULL', true],
    ["(status = 'idle') IS TRUE", true],
    ["(parent = 'x') IS NOT TRUE", true],
    ['TRUE', true],
    ["true AND NOT false AND (status = 'idle') = true", true],
    ['1 = 1', true],
    ["1 < 10 AND '1' < '10' AND -2.5 < '-1'::int4", true],
    ["updated_at < '2026-08-01'", true],
    ['updated_at < $3', false],
    ["updated_at >= '2026-07-01T12:00:00.500+02:00'", true],
    ["updated_at > '2026-07-01 10:00:00.5Z'", false],
    ["updated_at BETWEEN $3 AND '2026-12-31'::timestamptz", true],
    ["updated_at > date '2026-01-01'", true],
    ["updated_at::text LIKE '2026-07-01 %'", true],
  ])('judges %s as %s', (clause, truth) => {
    expect(evaluate(clause)).toBe(truth);
  });

  it.each([
    ["parent = 'x'", null],
    ["parent <> 'x'", null],
    ['parent = parent', null],
    ['status = NULL', null],
    ["NOT parent = 'x'", null],
    ["parent IN ('x')", null],
    ["parent NOT IN ('x')", null],
    ["status IN ('busy', NULL)", null],
    ["status NOT IN ('busy', NULL)", null],
    ["status IN ('idle', NULL)", true],
    ["status NOT IN ('idle', NULL)", false],
    ["parent = 'x' AND status = 'busy'", false],
    ["parent = 'x' AND status = 'idle'", null],
    ["parent = 'x' OR status = 'idle'", true],
    ["parent = 'x' OR status = 'busy'", null],
    ['NULL IS NULL', true],
    ["parent < 'x'", null],
    ["parent LIKE '%'", null],
    ["parent || 'x' = 'x'", null],
    ['updated_at < NULL', null],
    ["status BETWEEN 'a' AND NULL", null],
    ["status = ANY(ARRAY['busy', NULL])", null],
  ])('takes null as unknown: %s is %s', (clause, truth) => {
    expect(evaluate(clause)).toBe(truth);
  });

  it.each([
    ['', 0, 'unexpected end'],
    ['status', 0, 'a condition takes boolean here, not text'],
    ["status = 'idle", 9, 'unsupported or unfinished syntax at "\'"'],
    ['"status = 1', 0, 'unsupported or unfinished syntax at "\\""'],
    ['1 + 1 = 2', 2, 'unsupported or unfinished syntax at "+"'],
    ['status = 1', 9, '= takes text here, not number'],
    ["updated_at < 'yesterday'", 13, 'invalid timestamptz: "yesterday"'],
    ["updated_at < '2026-02-30'", 13, 'invalid timestamptz: "2026-02-30"'],
    ["updated_at LIKE '2026%'", 0, 'LIKE takes text here, not timestamptz'],
    ["'2026'::json = 'x'", 8, 'unsupported type json'],
    ["status NOT = 'a'", 11, 'unexpected "="'],
    ["status = ANY('busy')", 13, 'ANY takes an array: {a,b}'],
    ["status BETWEEN 'a' OR 'b'", 19, 'unexpected "or"'],
    ["status = 'a' -- b", 13, 'unsupported or unfinished syntax at "-"'],
    ["status = 'a'; ", 12, 'unsupported or unfinished syntax at ";"'],
    ["status = E'a'", 9, 'unknown reference e'],
    ['status = $$a$$', 9, 'unsupported or unfinished syntax at "$"'],
    ['status = $5', 9, 'parameter $5 was not provided'],
    ['status = $0', 9, 'unsupported or unfinished syntax at "$"'],
    ['status = $1and', 9, 'unsupported or unfinished syntax at "$"'],
    ["secret = 'a'", 0, 'unknown reference secret'],
    [`"Status" = 'a'`, 0, 'unknown reference Status'],
    ["entities.status = 'a'", 8, 'unsupported or unfinished syntax at "."'],
    ["length(status) = 'a'", 0, 'unknown reference length'],
    ["(status = 'a'", 13, 'unexpected end'],
    ["status = 'a') OR (type = 'b'", 12, 'unexpected ")"'],
    ['status IN ()', 11, 'unexpected ")"'],
    ["status IN ('a',)", 15, 'unexpected ")"'],
    ["status IS 'a'", 10, 'unexpected "a"'],
    ["status = 'a' type = 'b'", 13, 'unexpected "type"'],
    ['and = and', 0, 'unexpected "and"'],
    ["'a'", 0, 'invalid boolean: "a"'],
  ])('refuses %s', (clause, position, problem) => {
    expect(() => evaluate(clause)).toThrow(
      expect.objectContaining({
        name: 'WhereError',
        message: `At location ${position}: ${problem}`,
      }),
    );
  });

  it.each(['(', 'NOT '])('refuses a clause nested too deep by %j', (opening) => {
    expect(() => evaluate(`${opening.repeat(20_000)}status = $1`)).toThrow(
      expect.objectContaining({
        name: 'WhereError',
        message: `At location ${100 * opening.length}: nested too deep`,
      }),
    );
  });

  it('agrees with SQLite on random clauses and rows', () => {
    const database = new DatabaseSync(':memory:');
    database.exec('CREATE TABLE r (type TEXT, status TEXT, parent TEXT)');
    const insert = database.prepare('INSERT INTO r VALUES (?, ?, ?)');
    const value = fc.constantFrom('a', "b'", null);
    const rows = fc.record({ type: value, status: value, parent: value });
    fc.assert(
      fc.property(clauses(), rows, (clause, random) => {
        database.exec('DELETE FROM r');
        insert.run(random.type, random.status, random.parent);
        const judged = database.prepare(`SELECT (${clause}) AS truth FROM r`).get()!['truth'];
        expect(evaluate(clause, random)).toBe(judged === null ? null : judged === 1);
      }),
      { numRuns: 500 },
    );
    database.close();
  });
});

function clauses(): fc.Arbitrary<string> {
  const operand = fc.constantFrom('type', '"status"', 'parent', "'a'", "'b'''", 'NULL');
  const not = fc.constantFrom('', 'NOT ');
  const list = fc.array(operand, { minLength: 1, maxLength: 3 });
  return fc.letrec<{ or: string; unit: string }>((tie) => ({
    or: fc.array(fc.tuple(not, tie('unit')), { minLength: 1, maxLength: 3 }).chain((units) =>
      fc
        .array(fc.constantFrom(' AND ', ' OR '), {
          minLength: units.length,
          maxLength: units.length,
        })
        .map((joins) => units.map(([n, unit], i) => (i ? joins[i] : '') + n + unit).join('')),
    ),
    unit: fc.oneof(
      { depthSize: 'small' },
      fc
        .tuple(
          operand,
          fc.constantFrom('=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM'),
          operand,
        )
        .map((parts) => parts.join(' ')),
      fc
        .tuple(operand, not, operand, operand)
        .map(([o, n, a, b]) => `${o} ${n}BETWEEN ${a} AND ${b}`),
      fc.tuple(operand, operand, operand).map(([a, b, c]) => `${a} || ${b} = ${c}`),
      fc.tuple(operand, not, list).map(([o, n, l]) => `${o} ${n}IN (${l.join(', ')})`),
      fc.tuple(operand, not).map(([o, n]) => `${o} IS ${n}NULL`),
      tie('or').map((inner) => `(${inner})`),
    ),
  })).or;
}
