import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fencedWhere, whereProblem } from './where-clause.ts';

/**
 * Reads SQL as PostgreSQL's `scan.l` does, by one expression a token, and gives each token with the
 * depth of parentheses around it. Throws where PostgreSQL would. Of versions before 15, where a
 * number may be followed by a letter at once: the older reading hides more.
 */
function tokenize(sql: string): { text: string; depth: number }[] {
  const tokens: { text: string; depth: number }[] = [];
  let depth = 0;
  for (let at = 0; at < sql.length;) {
    const rest = sql.slice(at);
    const text = TOKENS.map((pattern) => pattern.exec(rest)?.[0]).find(Boolean);
    if (text === undefined) throw new Error(`no token at ${rest}`);
    at += text.length;
    if (text === ')') depth--;
    if (depth < 0) throw new Error('closes what is not open');
    if (/\S/.test(text)) tokens.push({ text, depth });
    if (text === '(') depth++;
  }
  if (depth > 0) throw new Error('stays open');
  return tokens;
}

const IDENTIFIER = '[A-Za-z_\\u0080-\\uffff][A-Za-z0-9_$\\u0080-\\uffff]*';
const TOKENS = [
  /^[ \t\n\r\f\v]+/,
  /^--[^\n\r]*/,
  /^\/\*[\s\S]*?\*\//,
  /^[eE]'(?:[^'\\]|\\[\s\S]|'')*'/,
  /^[uU]&'(?:[^']|'')*'/,
  /^[uU]&"(?:[^"]|"")*"/,
  /^[bBxXnN]?'(?:[^']|'')*'/,
  /^"(?:[^"]|"")*"/,
  new RegExp(`^\\$((?:${IDENTIFIER.replaceAll('$', '')})?)\\$[\\s\\S]*?\\$\\1\\$`),
  new RegExp(`^${IDENTIFIER}`),
  /^\$\d+/,
  /^\d+/,
  /^[-+*/<>=~!@#%^&|`?.,;:()[\]]/,
];

const FENCE = `("tenant" = 'acme')`;

/** Where the clause's own parenthesis closes, as PostgreSQL reads the fenced text. */
function fenceHolds(where: string): boolean {
  const fenced = fencedWhere('tenant', 'acme', where);
  const tokens = tokenize(fenced);
  const top = tokens.filter(({ depth }) => depth === 0).map(({ text }) => text);
  // Closing parentheses are of the depth outside of them.
  return (
    fenced.startsWith(FENCE) &&
    JSON.stringify(top) === JSON.stringify(['(', ')', 'AND', '(', ')']) &&
    tokens.at(-1)?.text === ')' &&
    !tokens.some(({ text }) => /^(?:--|\/\*|;)/.test(text))
  );
}

describe('whereProblem', () => {
  it.each([
    "type = 'chat'",
    "type='chat' AND (status = 'idle' OR status IS NULL)",
    'type = $1 OR id = $2',
    'a$1 = 1',
    "note = 'it''s'",
    "note = ')'",
    "note = '(('",
    "note = '--'",
    "note = '/*'",
    "note = ';'",
    "note = '$$'",
    "note = '\\'",
    "note = '\"'",
    '"a)b" = 1',
    '"a(b" = 1',
    '"a""b" = 1',
    '"a;b--c" = \'x\'',
    '"a\'b" = 1',
    "type LIKE'x%'",
    "created_at > date'2026-01-01'",
    "te'x'",
    'note = \'é\' AND "ü" = 1',
    "'a'\n'b' = x",
    'a - - 1 = 0',
    'a / * b = 0',
    '"U"&"x" = 1',
    'a=-1',
    'id IN (SELECT id FROM mine WHERE a = 1 OR b = 2)',
  ])('lets %j pass', (where) => {
    expect(whereProblem(where)).toBeUndefined();
    expect(fenceHolds(where)).toBe(true);
  });

  it.each([
    ['1=1) OR (1=1', 'closes a parenthesis that it did not open'],
    [') OR (1=1', 'closes a parenthesis that it did not open'],
    ['1=1)', 'closes a parenthesis that it did not open'],
    ['(1=1', 'does not close a parenthesis that it opened'],
    ['((1=1)', 'does not close a parenthesis that it opened'],
    ["'a' = ')') OR ('b' = '('", 'closes a parenthesis that it did not open'],
    ['"a)" = 1) OR ("b(" = 1', 'closes a parenthesis that it did not open'],
    ["a = 'x", 'has an unclosed quote'],
    ['"a = 1', 'has an unclosed quote'],
    ["a = 'x''", 'has an unclosed quote'],
    ['a = \'"\' OR "', 'has an unclosed quote'],
    ['1=1 -- ', 'must not hold a comment'],
    ['1=1--', 'must not hold a comment'],
    ['1=1 /* ', 'must not hold a comment'],
    ['1=1 /* x */', 'must not hold a comment'],
    ['1/**/=1', 'must not hold a comment'],
    ['1=1 */ OR (1=1', 'must not hold a comment'],
    ['a+--b', 'must not hold a comment'],
    ['1=1; DROP TABLE entities', 'must not hold a semicolon'],
    [';', 'must not hold a semicolon'],
    ['$$)$$ = x', 'must not hold a dollar quote'],
    ["$a$'$a$ = x", 'must not hold a dollar quote'],
    ['$é$)$é$ = x', 'must not hold a dollar quote'],
    ['$_$)$_$ = x', 'must not hold a dollar quote'],
    ['$1$$)$$', 'has a number that runs into a word'],
    ['1 $$)$$', 'must not hold a dollar quote'],
    ['a = $', 'must not hold a dollar quote'],
    ["a = E'\\'' OR (1=1", "must not hold an E'' or U&'' string"],
    ["a = e'x'", "must not hold an E'' or U&'' string"],
    ["e'x' = a", "must not hold an E'' or U&'' string"],
    ["a=e'x'", "must not hold an E'' or U&'' string"],
    ["(e'x')", "must not hold an E'' or U&'' string"],
    ['"a"e\'x\'', "must not hold an E'' or U&'' string"],
    ["'a'e'x'", "must not hold an E'' or U&'' string"],
    ["a = U&'x'", "must not hold an E'' or U&'' string"],
    ["a = u&'x'", "must not hold an E'' or U&'' string"],
    ['U&"\\0061" = 1', "must not hold an E'' or U&'' string"],
    // Judged a longer name, as in "te'x'"; PostgreSQL before 15 reads a number and an E string.
    ["a = 1e'\\'' OR (b = '", 'has a number that runs into a word'],
    ["a = $1e'\\'' OR (b = '", 'has a number that runs into a word'],
    ['a = 1_000', 'has a number that runs into a word'],
    ['a = 0x1F', 'has a number that runs into a word'],
    // White space to PostgreSQL from version 16 on.
    ['a\v= 1', 'holds a character that SQL does not have'],
    ['a = {1}', 'holds a character that SQL does not have'],
    ['"" = 1', 'has an empty name'],
    ['a[1)', 'closes a parenthesis that it did not open'],
    ['a[1', 'does not close a parenthesis that it opened'],
    ['a \\ b', 'must not hold a backslash outside of quotes'],
    ['a = 1\0', 'must not hold a zero byte'],
    // Only looked for outside of quotes, though it ends the text for any reader written in C.
    ["a = 'x\0'", 'must not hold a zero byte'],
    ['', 'is empty'],
    [' \n', 'is empty'],
  ])('refuses %j', (where, problem) => {
    expect(whereProblem(where)).toBe(problem);
  });

  /** Pieces from which breakouts are made, and anything else. */
  const piece = fc.oneof(
    fc.constantFrom("'", '"', "''", '""', '(', ')', ') OR (', '$', '$$', '$a$', '$1', '\\', "\\'"),
    fc.constantFrom('--', '-', '/*', '/', '*', '*/', ';', '\n', ' ', ' OR ', '1', '=', 'a', '1=1'),
    fc.constantFrom(
      'e',
      'E',
      "e'",
      "E'",
      'u&',
      "U&'",
      'U&"',
      'b',
      "x'",
      "1e'",
      '_',
      'é',
      '𝐚',
      '\0',
    ),
    fc.string({ unit: 'binary', maxLength: 2 }),
  );
  const clause = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

  it('lets nothing pass that could reach out of its fence', () => {
    let passed = 0;
    fc.assert(
      fc.property(clause, (where) => {
        if (whereProblem(where) !== undefined) return;
        passed++;
        let holds: boolean;
        try {
          holds = fenceHolds(where);
        } catch (error) {
          // PostgreSQL refuses what has no token; it must not be for an open quote or parenthesis.
          holds = /^no token at [^'"()$]/.test((error as Error).message);
        }
        expect([where, holds]).toEqual([where, true]);
      }),
      { numRuns: 20_000 },
    );
    // A property of clauses that are all refused would say nothing.
    expect(passed).toBeGreaterThan(1_000);
  });
});

describe('fencedWhere', () => {
  it('puts the fence around what was asked', () => {
    expect(fencedWhere('tenant', 'acme', "a = 'x' OR b = $1")).toBe(
      `("tenant" = 'acme') AND (a = 'x' OR b = $1)`,
    );
  });

  it('is the fence alone where nothing was asked', () => {
    expect(fencedWhere('Org Unit', 'acme', undefined)).toBe(`"Org Unit" = 'acme'`);
  });
});
