import { columnOf, quotedName, SqlRefusal, sqlTokens, wordOf } from './sql-tokens.ts';

/** A column of `subset__order_by`, folded like PostgreSQL, and the words behind it. */
export interface OrderedColumn {
  column: string;
  words: string;
}

/**
 * Parses a list of plain columns, each with an optional direction. Electric before 1.5 puts the text into its SQL
 * unchanged (electric-sql/electric#4081), so the gateway prints its own. Throws `SqlRefusal`.
 */
export function parseOrderBy(text: string): OrderedColumn[] {
  const tokens = sqlTokens(text);
  const order: OrderedColumn[] = [];
  let next = 0;
  const taken = (...words: string[]): string => {
    const word = wordOf(tokens[next]) ?? '';
    if (!words.includes(word)) return '';
    next++;
    return ` ${word.toUpperCase()}`;
  };
  do {
    const column = columnOf(tokens[next++]);
    const direction = taken('asc', 'desc');
    const nulls = taken('nulls');
    const place = nulls && taken('first', 'last');
    if (column === undefined || (nulls && !place)) throw refusal();
    order.push({ column, words: direction + nulls + place });
  } while (tokens[next++]?.text === ',');
  if (next <= tokens.length) throw refusal();
  return order;
}

export function printOrderBy(order: readonly OrderedColumn[]): string {
  return order.map(({ column, words }) => quotedName(column) + words).join(', ');
}

function refusal(): SqlRefusal {
  return new SqlRefusal(
    'takes plain column names, each with ASC or DESC and NULLS FIRST or NULLS LAST at most',
  );
}
