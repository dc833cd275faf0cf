/** The error in a `where` clause and its position. */
export class WhereError extends Error {
  constructor(position: number, problem: string) {
    super(`At location ${position}: ${problem}`);
    this.name = 'WhereError';
  }
}

/** `word` is folded to lower case, as in Postgres. `name` was quoted and is unchanged. */
export type TokenKind = 'word' | 'name' | 'string' | 'number' | 'parameter' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly position: number;
}

const PATTERNS: readonly (readonly [TokenKind, RegExp])[] = [
  ['word', /[A-Za-z_][A-Za-z0-9_$]*/y],
  ['name', /"(?:[^"]|"")+"/y],
  ['string', /'(?:[^']|'')*'/y],
  ['parameter', /\$[1-9][0-9]*(?![A-Za-z0-9_$])/y],
  ['number', /-?[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_$.])/y],
  ['symbol', /<>|!=|<=|>=|\|\||::|[=<>(),[\]]/y],
];

/** Splits a clause into tokens. Syntax that the engine does not support (comments, arithmetic) is refused. */
export function tokenize(clause: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  for (;;) {
    position += matchLength(/[ \t\n\r\f\v]*/y, clause, position);
    if (position === clause.length) return [...tokens, { kind: 'end', text: '', position }];
    const token = readToken(clause, position);
    tokens.push({ kind: token.kind, text: unquote(token), position });
    position += token.text.length;
  }
}

function readToken(clause: string, position: number): Token {
  for (const [kind, pattern] of PATTERNS) {
    const length = matchLength(pattern, clause, position);
    if (length > 0) return { kind, text: clause.slice(position, position + length), position };
  }
  const seen = clause.slice(position, position + 1);
  throw new WhereError(position, `unsupported or unfinished syntax at ${JSON.stringify(seen)}`);
}

function matchLength(pattern: RegExp, clause: string, position: number): number {
  pattern.lastIndex = position;
  return pattern.exec(clause)?.[0].length ?? 0;
}

function unquote({ kind, text }: Token): string {
  if (kind === 'word') return text.toLowerCase();
  if (kind === 'name') return text.slice(1, -1).replaceAll('""', '"');
  if (kind === 'string') return text.slice(1, -1).replaceAll("''", "'");
  if (kind === 'parameter') return text.slice(1);
  return text;
}
