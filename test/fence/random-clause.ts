import type { Random } from '../soak/random.ts';
import { VALUES, type Column, type Row } from './world.ts';

const COLUMN_VALUES: Readonly<Record<Column, string>> = {
  ...VALUES,
  id: 'a1 b1 x',
  tenant: 'acme other',
};
const COLUMN_NAMES = Object.keys(COLUMN_VALUES) as [Column, ...Column[]];
const TEXTS: [Column, ...Column[]] = ['type', 'note', 'code', 'id', 'done'];

/** The values of the parameters in a random clause, by number. */
export const PARAMS: Readonly<Record<string, string>> = { 1: 'other', 2: '10', 3: '{acme,x}' };

/** A random condition that is often of the form that passes, and otherwise may be harmful. */
export function randomCondition(random: Random, depth = 0): string {
  if (random.oneIn(15)) return harmful(random, depth);
  if (depth > 3 || random.oneIn(2)) return predicate(random);
  const inner = (): string => grouped(random, randomCondition(random, depth + 1));
  if (random.oneIn(5)) return `NOT ${inner()}`;
  return `${inner()} ${random.word('AND OR or Or')} ${inner()}`;
}

/** Adds parentheses, sometimes too few or too many. */
function grouped(random: Random, condition: string): string {
  if (random.oneIn(6)) return condition;
  return random.oneIn(8) ? `((${condition}))` : `(${condition})`;
}

function predicate(random: Random): string {
  const form = random.whole(0, 9);
  // LIKE takes texts, which few columns are.
  const name = form === 4 ? random.pick(TEXTS) : random.pick(COLUMN_NAMES);
  const column = spelled(random, name);
  const constant = (): string => randomConstant(random, name);
  const not = random.oneIn(3) ? 'NOT ' : '';
  switch (form) {
    case 0:
      return `${column} IS ${not}${random.word('NULL NULL TRUE FALSE UNKNOWN')}`;
    case 1:
      return `${column} ${not}IN (${constant()}, ${constant()})`;
    case 2:
      return `${column} ${not}BETWEEN ${constant()} AND ${constant()}`;
    case 3:
      return `${column} IS ${not}DISTINCT FROM ${constant()}`;
    case 4:
      return `${column} ${not}${random.word('LIKE ILIKE')} ${constant()}`;
    case 5:
      return `${column} = ANY($3)`;
    case 6:
      return random.pick([column, 'true', `${constant()} = ${column}`, 'true = true']);
    default:
      return [column, random.word('= <> != < > <= >='), constant()].join(
        random.oneIn(4) ? '' : ' ',
      );
  }
}

function spelled(random: Random, name: string): string {
  return random.pick([name, name, `"${name}"`, name.toUpperCase(), `(${name})`]);
}

/** A constant, which is often one that the column may have. */
function randomConstant(random: Random, column: Column): string {
  if (random.oneIn(6)) return random.word('NULL $1 $2 true false 0 -1 1.5 1e400 .5');
  const list = COLUMN_VALUES[random.oneIn(4) ? random.pick(COLUMN_NAMES) : column];
  const value = random.word(list);
  return /^-?\d+(?:\.\d+)?$/.test(value) && random.oneIn(2) ? value : `'${value}'`;
}

/** Expressions that must be refused. Most of them reveal other rows, other tables or the server. */
function harmful(random: Random, depth: number): string {
  const inner = depth > 3 ? `id = 'a1'` : randomCondition(random, depth + 1);
  const either = `(${inner} OR tenant = 'other')`;
  return random.pick([
    `${either} IS ${random.oneIn(2) ? 'NOT ' : ''}NULL`,
    `${either} IN (true, false)`,
    `${either}::text LIKE '%'`,
    `true IS NOT DISTINCT FROM ${either}`,
    `done BETWEEN false AND ${either}`,
    `EXISTS (SELECT 1 FROM payroll WHERE ${inner})`,
    'pay < (SELECT max(pay) FROM payroll)',
    `id IN (TABLE payroll)`,
    `pay = ANY(ARRAY(SELECT pay FROM payroll))`,
    `CASE WHEN ${inner} THEN true ELSE tenant = 'other' END`,
    `query_to_xml('select * from payroll', true, true, '') IS NOT NULL`,
    `'payroll'::regclass::oid::int > 20000`,
    `entities::text LIKE '%other%'`,
    `${inner}) OR (${inner}`,
    `${inner} -- `,
    `${inner}; SELECT 1`,
    `id = E'\\'' OR id = '`,
    `id = U&'\\0027' OR id = ''`,
    `$$a$$ = $a$a$a$`,
    `${inner} ORDER BY (id)`,
    `${inner} UNION SELECT 1`,
    random.pick(CLAUSES),
  ]);
}

/**
 * Clauses that fail for some values of a column, with a row that they do not fail on and with what it takes to fail. In
 * the same query PostgreSQL applies them to rows of other tenants.
 */
export const FALLIBLE: readonly (readonly [clause: string, harmless: Row, fatal: Row])[] = [
  ['pay / pay IS NOT NULL', { pay: '1' }, { pay: '0' }],
  ['1 % pay IS NULL', { pay: '1' }, { pay: '0' }],
  ['pay + 2147483600 IS NULL', { pay: '1' }, { pay: '2147483647' }],
  ['- pay IS NULL', { pay: '1' }, { pay: '-2147483648' }],
  [String.raw`type LIKE 'pin\'`, { type: 'x' }, { type: 'pinata' }],
  ["type LIKE 'pin!' ESCAPE '!'", { type: 'x' }, { type: 'pinata' }],
  [String.raw`type LIKE 'pin\x'::varchar(4)`, { type: 'x' }, { type: 'pinata' }],
  ['note LIKE type', { type: 'x', note: 'x' }, { type: 'pin\\', note: 'pinata' }],
  ['coalesce(day, seen) IS NULL', { day: '2026-01-01' }, { day: '5874897-12-31' }],
  ['made AT TIME ZONE type IS NULL', { made: '2026-01-01', type: 'UTC' }, { type: 'x' }],
  ['tags[pay + 2147483600] IS NULL', { pay: '1', tags: '{}' }, { pay: '2147483647' }],
];
const CLAUSES = FALLIBLE.map(([clause]) => clause) as [string, ...string[]];
