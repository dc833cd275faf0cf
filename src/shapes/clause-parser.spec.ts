import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { thrown } from '../../test/support/thrown.ts';
import { ownClause } from './clause-parser.ts';
import { SqlRefusal } from './sql-tokens.ts';

const PARAMS = new Map([
  ['1', 'chat%'],
  ['2', 'x\\y'],
]);

function printed(where: string): string {
  return ownClause(where, PARAMS);
}

function problemOf(where: string): string | undefined {
  return thrown(SqlRefusal, () => printed(where))?.message;
}

const elseAt = (at: number): string =>
  `may only compare columns with constants, and holds something else at character ${at}`;

describe('a clause of a read token', () => {
  it.each([
    ["type = 'chat'", `"type" = 'chat'`],
    ["Type='chat'", `"type" = 'chat'`],
    ['"Created At" <> $1', '"Created At" <> $1'],
    ['"a""b" != 1', '"a""b" != 1'],
    ["note = 'it''s'", `"note" = 'it''s'`],
    ["note = ''", `"note" = ''`],
    ["note = 'a\\'", `"note" = 'a\\'`],
    ["note = '--/*;$$)'", `"note" = '--/*;$$)'`],
    ['n < 1', '"n" < 1'],
    ['n<=-1', '"n" <= -1'],
    ['n<>-1', '"n" <> -1'],
    ['n != -1', '"n" != -1'],
    ['n > 2.5e-3', '"n" > 2.5e-3'],
    ['n >= .5', '"n" >= .5'],
    ['n = 1.', '"n" = 1.'],
    ['done = true AND gone = FALSE', '("done" = TRUE AND "gone" = FALSE)'],
    ['parent = null', '"parent" = NULL'],
    ['1 < n', '1 < "n"'],
    ['true = true', 'TRUE = TRUE'],
    ['(n) = ((1))', '"n" = 1'],
    ["type IN ('a', $1,3)", `"type" IN ('a', $1, 3)`],
    ["type not in ('a')", `"type" NOT IN ('a')`],
    ['n BETWEEN 1 AND 2 AND m = 3', '("n" BETWEEN 1 AND 2 AND "m" = 3)'],
    ['n NOT BETWEEN $1 AND 2', '"n" NOT BETWEEN $1 AND 2'],
    ['"id" = ANY($1)', '"id" = ANY($1)'],
    ['parent IS NULL', '"parent" IS NULL'],
    ['parent IS NOT NULL', '"parent" IS NOT NULL'],
    ['done IS TRUE', '"done" IS TRUE'],
    ['done IS NOT FALSE', '"done" IS NOT FALSE'],
    ['done is unknown', '"done" IS UNKNOWN'],
    ["status IS DISTINCT FROM 'idle'", `"status" IS DISTINCT FROM 'idle'`],
    ['status IS NOT DISTINCT FROM NULL', '"status" IS NOT DISTINCT FROM NULL'],
    ["type LIKE 'ch%'", `"type" LIKE 'ch%'`],
    ['type NOT LIKE $1', '"type" NOT LIKE $1'],
    ["type ILIKE 'CH_T'", `"type" ILIKE 'CH_T'`],
    ["type not ilike ('x')", `"type" NOT ILIKE 'x'`],
    ['done', '"done"'],
    ['(done)', '"done"'],
    ['NOT done', '(NOT "done")'],
    ['not not done', '(NOT (NOT "done"))'],
    ['NOT n = 1', '(NOT "n" = 1)'],
    ['NOT a IS NULL', '(NOT "a" IS NULL)'],
    ['a OR b AND c', '("a" OR ("b" AND "c"))'],
    ['(a OR b) AND NOT (c OR d)', '(("a" OR "b") AND (NOT ("c" OR "d")))'],
    ['a AND b AND c', '("a" AND "b" AND "c")'],
    // TanStack DB writes these where it knows the result.
    ['true', 'TRUE'],
    ['"a" = $1 AND false', '("a" = $1 AND FALSE)'],
    // Words that PostgreSQL lets name a column.
    ['date = 1 AND between = 2 AND unknown', '("date" = 1 AND "between" = 2 AND "unknown")'],
    ['größe = 1', '"größe" = 1'],
    ['"select" = 1', '"select" = 1'],
    ['"a)b;--" = 1', '"a)b;--" = 1'],
    ['a$1 = 1', '"a$1" = 1'],
  ])('prints %j', (where, expected) => {
    expect(printed(where)).toBe(expected);
    // What the gateway prints means the same to itself.
    expect(printed(expected)).toBe(expected);
  });

  it.each([
    ['a function', "lower(type) = 'chat'", 6],
    ['a function on the right', "type = lower('x')", 8],
    // With a read token this was an error exactly if another tenant had a row that begins with "pin".
    ['a cast of a constant', "note like 'pin\\x'::varchar(4)", 18],
    ['a cast', "type::text = 'x'", 5],
    ['CAST', "CAST(type AS text) = 'x'", 1],
    ['a typed constant', "made > date '2026-01-01'", 8],
    ['arithmetic', 'n + 1 > 2', 3],
    ['arithmetic without a space', 'n-1 > 2', 2],
    ['arithmetic of constants', 'n > 1 - 1', 7],
    ['two signs', 'n > --1', 5],
    ['a sign apart', 'n > - 1', 5],
    ['a plus', 'n > +1', 5],
    // PostgreSQL reads the operator "!=-", which nobody has. The gateway read "!= -1".
    ['a sign behind !=', 'n!=-1', 2],
    ['a concatenation', "type || 'x' = 'y'", 6],
    ['an operator of PostgreSQL', "type ~ 'x'", 6],
    ['an operator that begins like one', 'n <@ 1', 4],
    ['LIKE as an operator', "type ~~ 'x'", 6],
    ['an array', "tags = ARRAY['x']", 13],
    ['a subscript', "tags[1] = 'x'", 5],
    ['a second column', 'a = b', 5],
    ['a second column in IN', 'a IN (b)', 7],
    ['a second column in BETWEEN', 'a BETWEEN 1 AND b', 17],
    ['a pattern in a column', 'a LIKE b', 8],
    ['a column to be distinct from', 'a IS DISTINCT FROM b', 20],
    ['a subquery', 'id IN (SELECT id FROM x)', 8],
    ['EXISTS', 'EXISTS (SELECT 1)', 8],
    ['ANY of a constant', "id = ANY('{x}')", 15],
    ['ANY of a column', 'id = ANY(tags)', 10],
    ['ANY with another operator', 'id <> ANY($1)', 7],
    ['ANY of a constant on the left', '1 = ANY($1)', 5],
    ['SOME', 'id = SOME($1)', 6],
    ['ALL', 'id = ALL($1)', 6],
    ['BETWEEN SYMMETRIC', 'n BETWEEN SYMMETRIC 1 AND 2', 11],
    ['IS of a constant', 'true IS TRUE', 6],
    ['IN of a constant', '1 IN (1)', 3],
    ['LIKE of a constant', "'a' LIKE 'a'", 5],
    ['an empty IN', 'id IN ()', 8],
    ['a comparison of comparisons', '(a = 1) = true', 9],
    ['a comparison of an AND', '(a AND b) = true', 11],
    ['a comparison of a NOT', '(NOT a) = true', 9],
    ['a NOT behind a column', 'a NOT', undefined],
    // Electric prints it anew without its parentheses: rows of all tenants came.
    ['IS of a condition', '(a OR b) IS NOT NULL', 10],
    ['a chain of comparisons', 'a = 1 = true', 7],
    ['a constant that is no truth', "'x'", undefined],
    ['a number alone', '1', undefined],
    ['null alone', 'a AND null', undefined],
    ['a parameter alone', 'NOT $1', undefined],
    ['a row', '(a, b) = (1, 2)', 3],
    ['a longer name', 'entities.id = 1', 9],
    ['a call of a quoted name', '"pg_sleep"(10)', 11],
    ['a reserved word', "current_user = 'x'", 1],
    ['CASE', 'CASE WHEN a THEN b END', 1],
    ['COLLATE', `a COLLATE "C" = 'x'`, 3],
    ['AT TIME ZONE', "made AT TIME ZONE 'UTC' = 'x'", 6],
    ['ESCAPE', "a LIKE 'x' ESCAPE 'y'", 12],
    ['an alias', 'a b', 3],
    ['two strings', "a = 'x' 'y'", 9],
    ['ORDER BY', 'a = 1 ORDER BY a', 7],
    ['a comma', 'a = 1, b = 2', 6],
    ['a semicolon', 'a = 1; SELECT 1', 6],
    ['a comment', 'a = 1 -- x', 7],
    ['a long comment', 'a = 1 /* x */', 7],
    ['a dollar quote', '$$x$$ = a', 1],
    ['an E string', "a = E'x'", 5],
    ['an escaped string', "a = U&'x'", 6],
    ['a bit string', "a = b'1'", 5],
    ['$0', 'a = $0', 5],
    ['$01', 'a = $01', 5],
    ['$ and a word', 'a = $1x', 5],
    ['a number that runs into a word', 'a = 1e', 5],
    ['a number of another base', 'a = 0x1F', 5],
    ['a number with an underline', 'a = 1_000', 5],
    ['a bracket', 'a = {1}', 5],
    ['an empty name', '"" = 1', 1],
    ['an open string', "a = 'x", 5],
    ['an open string with a quote', "a = 'x''", 5],
    ['an open name', '"a = 1', 1],
    ['a zero byte', 'a = 1\0', 6],
    ['a zero byte in a string', "a = 'x\0'", 5],
    ['a vertical tab', 'a\v= 1', 2],
    ['a Kelvin sign for K', "a LI\u212aE 'x'", 3],
    ['a breakout', "'a' = 'a') OR ('a' = 'a'", 10],
    ['a parenthesis too many', 'a = 1)', 6],
    ['a name that PostgreSQL truncates', `${'x'.repeat(64)} = 1`, 1],
    ['a quoted name that PostgreSQL truncates', `"${'ü'.repeat(32)}" = 1`, 1],
    ['a pattern that is a number', 'a LIKE 1', 8],
    ['a pattern without a value', 'a LIKE $3', 8],
  ])('refuses %s', (_, where, at) => {
    expect(problemOf(where)).toBe(at === undefined ? 'ends too early' : elseAt(at));
  });

  it.each([
    ['nothing', '', 'ends too early'],
    ['white space', ' \n', 'ends too early'],
    ['an open parenthesis', '(a = 1', 'ends too early'],
    ['half a comparison', 'a =', 'ends too early'],
    ['NOT of nothing', 'NOT', 'ends too early'],
    ['a condition as an operand', 'true = (a OR b)', 'ends too early'],
    [
      'a pattern that ends with a backslash',
      String.raw`a LIKE 'x\'`,
      'holds a pattern with a backslash at character 8',
    ],
    [
      'a pattern with backslashes',
      String.raw`a LIKE '\\x'`,
      'holds a pattern with a backslash at character 8',
    ],
    ['such a parameter', 'a NOT ILIKE $2', 'holds a pattern with a backslash at character 13'],
    [
      'too many parentheses',
      `${'('.repeat(101)}a${')'.repeat(101)}`,
      'is nested more than 100 deep',
    ],
    ['too many NOTs', `${'NOT '.repeat(101)}a`, 'is nested more than 100 deep'],
    ['too many bytes', `a =  '${'ü'.repeat(4_093)}'`, 'is longer than 8 KiB'],
  ])('refuses %s with a reason of its own', (_, where, problem) => {
    expect(problemOf(where)).toBe(problem);
  });

  it('takes 100 levels and 8 KiB', () => {
    expect(problemOf(`${'('.repeat(100)}a${')'.repeat(100)}`)).toBeUndefined();
    expect(problemOf(`a = '${'ü'.repeat(4_093)}'`)).toBeUndefined();
    // Many conditions are not deep.
    expect(problemOf(Array.from({ length: 1_100 }, () => '(a)').join(' OR '))).toBeUndefined();
  });

  it('is read in steps that only go forward, each past at least one character', () => {
    // 3,850 pairs of "-+" once took 48 ms, because each step looked back at all before it.
    const exec = jest.spyOn(RegExp.prototype, 'exec');
    const steps = (where: string): number => {
      exec.mockClear();
      problemOf(where);
      return exec.mock.contexts.filter((pattern) => (pattern as RegExp).sticky).length;
    };
    const counts = [
      steps('-+'.repeat(3_850)),
      steps("'".repeat(8_001)),
      steps(`${'"'.repeat(8_000)}`),
      steps('(a)='.repeat(2_000)),
      steps('a = 1'),
    ];
    exec.mockRestore();
    expect(counts).toEqual([1, 1, 1, 8_000, 5]);
  });

  it('is the same once it was printed, whatever was asked, also with a slip in it', () => {
    const piece = fc.constantFrom(
      ...`a "B" 'x' '' $1 $2 1 -1 .5 = <> < ( ) , AND OR NOT IN IS NULL TRUE UNKNOWN DISTINCT FROM BETWEEN LIKE ANY`.split(
        ' ',
      ),
    );
    const column = fc.constantFrom('a', '"B"');
    const constant = fc.constantFrom("'x'", "''", '$1', '1', '-1', '.5', 'TRUE', 'NULL');
    const compared = fc.tuple(column, fc.constantFrom('=', '<>', '<'), constant);
    const tested = fc.tuple(
      column,
      fc.constantFrom('', 'IS NULL', 'IS NOT UNKNOWN', "IN ( 'x' , 1 )", 'NOT BETWEEN 1 AND $1'),
    );
    const matched = fc.tuple(
      column,
      fc.constantFrom("LIKE 'x'", 'NOT LIKE $1', 'IS NOT DISTINCT FROM 1', '= ANY ( $1 )'),
    );
    const { clause } = fc.letrec<{ clause: string[] }>((tie) => ({
      clause: fc.oneof(
        { maxDepth: 4 },
        fc.oneof<fc.Arbitrary<string[]>[]>(compared, tested, matched),
        fc
          .tuple(tie('clause'), fc.constantFrom(['AND'], ['OR']), tie('clause'))
          .map((c) => c.flat()),
        tie('clause').map((inner) => ['(', ...inner, ')']),
        tie('clause').map((inner) => ['NOT', ...inner]),
      ),
    }));
    const asked = fc.tuple(clause, fc.option(fc.tuple(fc.nat(), piece))).map(([parts, slip]) => {
      const words = parts.join(' ').split(' ').filter(Boolean);
      return (slip ? words.with(slip[0] % words.length, slip[1]) : words).join(' ');
    });
    let passed = 0;
    fc.assert(
      fc.property(asked, (where) => {
        if (problemOf(where) !== undefined) return;
        passed++;
        const once = printed(where);
        expect(printed(once)).toBe(once);
      }),
      { numRuns: 5_000 },
    );
    expect(passed).toBeGreaterThan(1_000);
  });
});
