import type { Random } from '../soak/random.ts';
import { oneIn, whole, wordOf } from './seed.ts';

type Type = 'text' | 'int' | 'bool' | 'text[]' | 'timestamptz';

const COLUMN_OF: Record<Type, string> = {
  text: 'id tenant type status "id" "tenant" TENANT Type',
  int: 'pay "pay"',
  bool: 'done',
  'text[]': 'tags',
  timestamptz: 'made',
};
const CONSTANT_OF: Record<Type, string> = {
  text: "'acme' 'other' 'chat' 'a1' 'b1' '' 'x''y' '%' ')' '--' $1 $2 NULL",
  int: '0 1 10 -1 2.5 1e3 .5 $3 NULL',
  bool: "true false NULL 't'::bool",
  'text[]': "'{x,y}' ARRAY['x','acme'] '{}'::text[]",
  timestamptz: "'2026-01-01' '2026-02-01'::timestamptz date'2026-01-01' now() 'infinity'",
};

/** A random condition that is usually valid in PostgreSQL and may be harmful. */
export function randomCondition(random: Random, depth = 0): string {
  if (oneIn(random, 12)) return harmful(random, depth);
  if (depth > 3 || oneIn(random, 2)) return predicate(random, depth + 1);
  const inner = (): string => grouped(random, randomCondition(random, depth + 1));
  if (oneIn(random, 5)) return `NOT ${inner()}`;
  return `${inner()} ${wordOf(random, 'AND OR or Or')} ${inner()}`;
}

/** Adds parentheses, sometimes too few or too many. */
function grouped(random: Random, condition: string): string {
  if (oneIn(random, 6)) return condition;
  return oneIn(random, 8) ? `((${condition}))` : `(${condition})`;
}

function predicate(random: Random, depth: number): string {
  const type = random.pick<Type>(['text', 'text', 'text', 'int', 'bool', 'text[]', 'timestamptz']);
  const value = (): string => randomValue(random, type, depth);
  const not = oneIn(random, 3) ? 'NOT ' : '';
  const compare = wordOf(random, '= <> != < > <= >=');
  switch (whole(random, 9)) {
    case 0:
      return `${value()} IS ${not}${wordOf(random, 'NULL NULL TRUE FALSE UNKNOWN')}`;
    case 1:
      return `${value()} ${not}IN (${value()}, ${value()})`;
    case 2:
      return `${value()} ${not}BETWEEN ${oneIn(random, 3) ? 'SYMMETRIC ' : ''}${value()} AND ${value()}`;
    case 3:
      return `${value()} IS ${not}DISTINCT FROM ${value()}`;
    case 4:
      return `${randomValue(random, 'text', depth)} ${not}${wordOf(random, 'LIKE ILIKE ~~ !~~*')} ${oneIn(random, 8) ? randomValue(random, 'text', depth) : wordOf(random, CONSTANT_OF.text)}`;
    case 5:
      return `${randomValue(random, 'text', depth)} ${compare} ${wordOf(random, 'ANY SOME ALL')}(${randomValue(random, 'text[]', depth)})`;
    case 6:
      return oneIn(random, 2)
        ? randomValue(random, 'bool', depth)
        : `${value()} ${compare} ${value()}`;
    default:
      return `${value()} ${compare} ${value()}`;
  }
}

function randomValue(random: Random, type: Type, depth: number): string {
  if (depth > 4 || oneIn(random, 2)) {
    return wordOf(random, (oneIn(random, 2) ? COLUMN_OF : CONSTANT_OF)[type]);
  }
  const of = (inner: Type): string => randomValue(random, inner, depth + 1);
  /** Operations that can fail pass with constants only. */
  const constant = (inner: Type): string =>
    oneIn(random, 8) ? of(inner) : wordOf(random, CONSTANT_OF[inner]);
  if (oneIn(random, 8)) return `(${of(type)})`;
  if (oneIn(random, 8)) return `coalesce(${of(type)}, ${of(type)})`;
  if (oneIn(random, 8))
    return type === 'text' ? `${of('int')}::text` : `${constant('text')}::${type}`;
  switch (type) {
    case 'text':
      return random.pick([
        `${constant('text')} || ${constant('text')}`,
        `${wordOf(random, 'lower upper')}(${of('text')})`,
        `CAST(${of('int')} AS text)`,
        `(${of('text[]')})[${whole(random, 3)}]`,
        `concat(${of('text')}, ${of('int')})`,
      ]);
    case 'int':
      return random.pick([
        `${constant('int')} ${wordOf(random, '+ - * / %')} ${constant('int')}`,
        `length(${of('text')})`,
        `- ${constant('int')}`,
        `@${constant('int')}`,
      ]);
    case 'bool':
      // As a value: the sync engine may regenerate it without its parentheses.
      return grouped(random, randomCondition(random, depth + 1));
    case 'text[]':
      return random.pick([
        `${constant('text[]')} || ${constant('text')}`,
        `array_append(${constant('text[]')}, ${constant('text')})`,
        'tags[1:2]',
      ]);
    case 'timestamptz':
      return random.pick([
        `${constant('timestamptz')} + interval '1 day'`,
        `${constant('timestamptz')} AT TIME ZONE 'UTC'`,
      ]);
  }
}

/** Expressions that must be refused. Most of them reveal other rows, other tables or the server. */
function harmful(random: Random, depth: number): string {
  const inner = depth > 3 ? 'id = id' : randomCondition(random, depth + 1);
  const either = `(${inner} OR tenant = 'other')`;
  return random.pick([
    `${either} IS ${oneIn(random, 2) ? 'NOT ' : ''}NULL`,
    `${either} IN (true, false)`,
    `true IN ${either}`,
    `${either}::text LIKE '%'`,
    `CAST${either.replace(/\)$/, ' AS bool)')}`,
    `${either} IS NOT DISTINCT FROM true`,
    `true IS NOT DISTINCT FROM ${either}`,
    `${either} = ANY(ARRAY[true, false])`,
    `done BETWEEN false AND ${either}`,
    `${either} BETWEEN false AND true`,
    `EXISTS (SELECT 1 FROM payroll WHERE ${inner})`,
    'pay < (SELECT max(pay) FROM payroll)',
    `id IN (SELECT id FROM entities WHERE ${inner})`,
    `id IN (TABLE payroll)`,
    `id IN (VALUES ('a1'))`,
    `pay = ANY(ARRAY(SELECT pay FROM payroll))`,
    `CASE WHEN ${inner} THEN true ELSE tenant = 'other' END`,
    `pg_relation_size('entities') > 0`,
    `query_to_xml('select * from payroll', true, true, '') IS NOT NULL`,
    `'payroll'::regclass::oid::int > 20000`,
    `current_setting('search_path') = 'world'`,
    `current_schema = 'world'`,
    `entities.tableoid::regclass::text LIKE 'w%'`,
    `entities::text LIKE '%other%'`,
    `${inner}) OR (${inner}`,
    `${inner} -- `,
    `${inner}; SELECT 1`,
    `id = E'\\'' OR id = '`,
    `id = U&'\\0027' OR id = ''`,
    `$$a$$ = $a$a$a$`,
    `${inner} ORDER BY (id)`,
    `${inner} LIMIT 1`,
    `${inner} UNION SELECT 1`,
    `1 / pay = 1`,
    `type::int = 1`,
  ]);
}
