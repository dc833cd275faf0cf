/** A token of SQL. White space is left out. `text` is the token as written. */
export interface SqlToken {
  kind: 'word' | 'name' | 'string' | 'number' | 'parameter' | 'operator' | 'mark';
  text: string;
  /** The position, counted from 1. */
  at: number;
}

/** The reason why SQL is refused: the rest of a sentence whose subject is the parameter. */
export class SqlRefusal extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'SqlRefusal';
  }
}

/** The same as in PostgreSQL's `scan.l`. Versions differ only on `\v` as white space. */
const SPACE = /[ \t\n\r\f]+/y;
const PATTERNS: readonly (readonly [SqlToken['kind'], RegExp])[] = [
  ['parameter', /\$\d+/y],
  ['number', /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  // PostgreSQL treats every byte from 0x80 on as a letter, also Unicode's white space.
  ['word', /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y],
  ['operator', /[-+*/<>=~!@#%^&|`?]+/y],
  ['mark', /::|[()[\],.:]/y],
];

/**
 * Splits SQL like PostgreSQL (manual, "Lexical Structure", §4.1). It refuses everything that could hide a quote
 * from this parser but not from PostgreSQL, or not from one of its versions: comments, dollar quotes, `E''` and
 * `U&''`, a number directly before a word. Throws `SqlRefusal`.
 */
export function sqlTokens(sql: string): SqlToken[] {
  // This applies inside quotes too: a parser in C would take it for the end of the clause.
  if (sql.includes('\0')) throw new SqlRefusal('must not hold a zero byte');
  const tokens: SqlToken[] = [];
  for (let index = afterSpace(sql, 0); index < sql.length;) {
    const token = tokenAt(sql, index);
    tokens.push(token);
    index += token.text.length;
    checkEnd(token, sql.slice(index, index + 2));
    index = afterSpace(sql, index);
  }
  return tokens;
}

function afterSpace(sql: string, index: number): number {
  SPACE.lastIndex = index;
  return SPACE.test(sql) ? SPACE.lastIndex : index;
}

function tokenAt(sql: string, index: number): SqlToken {
  const at = index + 1;
  const quote = sql[index];
  if (quote === "'" || quote === '"') {
    const text = sql.slice(index, afterQuoted(sql, index));
    if (text === '""') throw new SqlRefusal('has an empty name');
    return { kind: quote === "'" ? 'string' : 'name', text, at };
  }
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = index;
    const text = pattern.exec(sql)?.[0];
    if (text !== undefined) return { kind, text: kind === 'operator' ? operator(text) : text, at };
  }
  throw new SqlRefusal(characterProblem(quote));
}

/** The index after the closing quote. A doubled quote is part of the text. */
function afterQuoted(sql: string, start: number): number {
  const quote = sql[start];
  for (let i = start + 1; i < sql.length; i++) {
    if (sql[i] !== quote) continue;
    if (sql[i + 1] !== quote) return i + 1;
    i++;
  }
  throw new SqlRefusal('has an unclosed quote');
}

/** The longest operator, without a final `+` or `-` that PostgreSQL reads as an operator of its own. */
function operator(text: string): string {
  if (/--|\/\*|\*\//.test(text)) throw new SqlRefusal('must not hold a comment');
  return /[~!@#%^&|`?]/.test(text) ? text : text.replace(/(?<=.)[-+]+$/, '');
}

/** Refuses a token whose meaning changes with the text that follows without a space. */
function checkEnd({ kind, text }: SqlToken, next: string): void {
  const isNumber = kind === 'number' || kind === 'parameter';
  if (isNumber && /^[A-Za-z0-9_$\u0080-\uffff]/.test(next)) {
    throw new SqlRefusal('has a number that runs into a word');
  }
  const opens = `${text}${next}`;
  if (kind === 'word' && (/^e'/i.test(opens) || /^u&['"]/i.test(opens))) {
    throw new SqlRefusal("must not hold an E'' or U&'' string");
  }
}

function characterProblem(char: string | undefined): string {
  if (char === ';') return 'must not hold a semicolon';
  if (char === '$') return 'must not hold a dollar quote';
  if (char === '\\') return 'must not hold a backslash outside of quotes';
  return 'holds a character that SQL does not have';
}

/** The word of a token in lower case, as PostgreSQL compares it. Undefined for any other token. */
export function wordOf(token: SqlToken | undefined): string | undefined {
  return token?.kind === 'word' ? foldedName(token.text) : undefined;
}

/** A name without its quotes. An unquoted name is folded to lower case, only in ASCII. */
export function foldedName(text: string): string {
  if (text.startsWith('"')) return text.slice(1, -1).replaceAll('""', '"');
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
