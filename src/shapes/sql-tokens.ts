/** A token of a clause. White space is left out. `text` is the token as written. */
export interface SqlToken {
  kind: 'parameter' | 'number' | 'word' | 'name' | 'string' | 'symbol';
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

/** The longest name in bytes. PostgreSQL truncates longer ones, so that they name another column. */
const MAX_NAME_BYTES = 63;

/**
 * All tokens that conditions and orders consist of. None of them is a comment, a dollar quote, an operator of
 * PostgreSQL's own or a zero byte. A number that runs into a word is no token either.
 */
const TOKEN = new RegExp(
  [
    String.raw`[ \t\n\r\f]+`,
    String.raw`(?<parameter>\$[1-9]\d{0,3})(?![\w$\u0080-\uffff])`,
    String.raw`(?<number>-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.$\u0080-\uffff])`,
    // PostgreSQL reads every byte from 0x80 on as a letter, also Unicode's white space.
    String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    String.raw`(?<name>"(?:[^"\0]|"")+"(?!"))`,
    String.raw`(?<string>'(?:[^'\0]|'')*'(?!'))`,
    // PostgreSQL reads "!=-" as an operator of its own, because of the "!". "<-" is two for it.
    String.raw`(?<symbol><=|>=|<>|!=(?!-)|[=<>(),])`,
  ].join('|'),
  'y',
);

/** Splits a clause into tokens, in one pass without going back. Throws `SqlRefusal`. */
export function sqlTokens(sql: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  for (let index = 0; index < sql.length;) {
    TOKEN.lastIndex = index;
    const found = TOKEN.exec(sql);
    if (!found) throw refusalAt(index + 1);
    const [kind, text] = Object.entries(found.groups ?? {}).find(([, part]) => part) ?? [];
    if (text) tokens.push({ kind: kind as SqlToken['kind'], text, at: index + 1 });
    index = TOKEN.lastIndex;
  }
  return tokens;
}

/** Gives the position but not the text, because a clause may contain private data. */
export function refusalAt(at: number): SqlRefusal {
  return new SqlRefusal(
    `may only compare columns with constants, and holds something else at character ${at}`,
  );
}

/** The word of a token in lower case, as PostgreSQL compares it. Undefined for any other token. */
export function wordOf(token: SqlToken | undefined): string | undefined {
  return token?.kind === 'word' ? foldedName(token.text) : undefined;
}

/** The column that a token names. Undefined if it names none. */
export function columnOf(token: SqlToken | undefined): string | undefined {
  const isName = token?.kind === 'name' || !RESERVED_WORDS.has(wordOf(token) ?? 'null');
  const column = isName && token ? foldedName(token.text) : '';
  return column === '' || Buffer.byteLength(column) > MAX_NAME_BYTES ? undefined : column;
}

/** A name without its quotes. An unquoted name is folded to lower case, only in ASCII. */
export function foldedName(text: string): string {
  if (text.startsWith('"')) return text.slice(1, -1).replaceAll('""', '"');
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Words that PostgreSQL never reads as the name of a column without quotes: its reserved words, including those
 * "(can be function or type)" (manual, appendix C; versions 14 to 18).
 */
const RESERVED_WORDS: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check
   collate collation column concurrently constraint create cross current_catalog current_date
   current_role current_schema current_time current_timestamp current_user default deferrable desc
   distinct do else end except false fetch for foreign freeze from full grant group having ilike in
   initially inner intersect into is isnull join lateral leading left like limit localtime
   localtimestamp natural not notnull null offset on only or order outer overlaps placing primary
   references returning right select session_user similar some symmetric system_user table
   tablesample then to trailing true union unique user using variadic verbose when where window with`
    .trim()
    .split(/\s+/),
);
