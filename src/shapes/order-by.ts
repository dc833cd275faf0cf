import { GatewayError } from '../errors/gateway-error.ts';
import { RESERVED_WORDS } from './reserved-words.ts';
import { foldedName, SqlRefusal, sqlTokens, wordOf, type SqlToken } from './sql-tokens.ts';

/** The longest name. PostgreSQL truncates longer ones, so that they name another column. */
const MAX_NAME_BYTES = 63;

/**
 * The columns of `subset__order_by`, folded like PostgreSQL. It is a list of plain columns, each with an optional
 * direction, because Electric before 1.5 puts the text into its SQL unchanged (electric-sql/electric#4081). Throws
 * `invalid_order_by`.
 */
export function orderByColumns(text: string): string[] {
  const tokens = tokensOf(text);
  const columns: string[] = [];
  let next = 0;
  const takes = (...words: string[]): boolean => {
    const taken = words.includes(wordOf(tokens[next]) ?? '');
    if (taken) next++;
    return taken;
  };
  do {
    columns.push(columnOf(tokens[next++]));
    takes('asc', 'desc');
    if (takes('nulls') && !takes('first', 'last')) throw invalid();
  } while (tokens[next++]?.text === ',');
  if (next <= tokens.length) throw invalid();
  return columns;
}

function tokensOf(text: string): SqlToken[] {
  try {
    return sqlTokens(text);
  } catch (error) {
    if (error instanceof SqlRefusal) throw invalid();
    throw error;
  }
}

function columnOf(token: SqlToken | undefined): string {
  const isName = token?.kind === 'name' || !RESERVED_WORDS.has(wordOf(token) ?? 'null');
  const column = isName && token ? foldedName(token.text) : '';
  if (column === '' || Buffer.byteLength(column) > MAX_NAME_BYTES) throw invalid();
  return column;
}

function invalid(): GatewayError {
  return new GatewayError(
    'invalid_order_by',
    'Give "subset__order_by" as plain column names, each with ASC or DESC and NULLS FIRST or NULLS LAST at most.',
  );
}
