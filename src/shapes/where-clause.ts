/**
 * Whether a where clause stands for itself: put between parentheses it is one whole condition that
 * cannot reach outside of them. So outside of quotes its parentheses balance and never close what
 * they did not open, and what could hide a quote from this reader and not from PostgreSQL is
 * refused: comments, dollar quotes and `E''` strings (PostgreSQL, "Lexical Structure", §4.1).
 *
 * @returns what is wrong, or undefined if nothing is.
 */
export function whereProblem(where: string): string | undefined {
  // Also inside of quotes: a reader written in C would take the clause to end there.
  if (where.includes('\0')) return 'must not hold a zero byte';
  let depth = 0;
  for (let i = 0; i < where.length; i++) {
    const char = where[i] ?? '';
    const pair = where.slice(i, i + 2);
    if (char === "'" || char === '"') {
      if (char === "'" && hasEscapePrefix(where, i)) return "must not hold an E'' or U&'' string";
      const end = endOfQuoted(where, i);
      if (end === -1) return 'has an unclosed quote';
      i = end;
    } else if (char === '(') depth++;
    else if (char === ')') {
      depth--;
      if (depth < 0) return 'closes a parenthesis that it did not open';
    } else if (pair === '--' || pair === '/*' || pair === '*/') return 'must not hold a comment';
    else if (char === ';') return 'must not hold a semicolon';
    else if (char === '\\') return 'must not hold a backslash outside of quotes';
    else if (char === '$' && !/^\$\d/.test(pair)) return 'must not hold a dollar quote';
  }
  if (depth > 0) return 'does not close a parenthesis that it opened';
  return where.trim() === '' ? 'is empty' : undefined;
}

/**
 * `E'…'` reads backslashes as escapes, `U&'…'` has escapes of its own. A digit before the letter does
 * not make it part of a longer name: PostgreSQL before 15 reads `1e'…'` as a number and an E string.
 */
function hasEscapePrefix(where: string, quoteAt: number): boolean {
  return /(?:^|[^\p{L}_$])(?:e|u&)$/iu.test(where.slice(Math.max(0, quoteAt - 3), quoteAt));
}

/**
 * Whether a clause without a `whereProblem` reads more than the row in front of it. A subquery does:
 * with `EXISTS (SELECT …)` the rows that come or stay away tell of any table and any tenant.
 */
export function hasSubquery(where: string): boolean {
  const unquoted = where.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, "'");
  return SUBQUERY_WORD.test(unquoted);
}

/** Every subquery that reads a table needs one of these words, which PostgreSQL reserves. */
const SUBQUERY_WORD = /(?<![A-Za-z_\u0080-\uffff])(?:select|table)(?![A-Za-z0-9_$\u0080-\uffff])/i;

/** The index of the closing quote; a doubled quote is part of the text. */
function endOfQuoted(where: string, start: number): number {
  const quote = where[start];
  for (let i = start + 1; i < where.length; i++) {
    if (where[i] !== quote) continue;
    if (where[i + 1] !== quote) return i;
    i++;
  }
  return -1;
}

/** The fence that keeps a read token to its tenant's rows, around what its holder asked for. */
export function fencedWhere(column: string, tenant: string, where: string | undefined): string {
  const fence = `"${column}" = '${tenant}'`;
  return where === undefined ? fence : `(${fence}) AND (${where})`;
}
