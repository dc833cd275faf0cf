import { SqlRefusal, wordOf, type SqlToken } from './sql-tokens.ts';

/** The content of a pair of parentheses or brackets. The outermost group has none. */
interface Group {
  opener: string | undefined;
  /** Whether the words in front of it join conditions. */
  isCondition: boolean;
  isSubquery: boolean;
  hasOr: boolean;
  /** How many BETWEENs wait for their AND. */
  betweens: number;
}

const OPENERS: Readonly<Record<string, string>> = { ')': '(', ']': '[' };
/**
 * The words that may come before and after a group that is a whole condition. Undefined stands for the beginning or
 * the end.
 */
const BEFORE_CONDITION = new Set([undefined, '(', 'and', 'or', 'not', 'where']);
const AFTER_CONDITION = new Set([undefined, ')', 'and', 'or']);

/**
 * Refuses parentheses that do not balance, and those around an OR that may get lost.
 *
 * Electric rewrites a clause from its syntax tree before it asks PostgreSQL, and its deparser (libpg_query, in
 * version 17 still) forgets parentheses: `(a OR b) IS NOT NULL` comes out as `a OR b IS NOT NULL`. After the AND
 * of the fence that returns every tenant's rows. It keeps parentheses between AND, OR, NOT and parentheses, so an
 * OR is allowed only there. Throws `SqlRefusal`.
 */
export function checkConditions(tokens: readonly SqlToken[]): void {
  if (tokens.length === 0) throw new SqlRefusal('is empty');
  const outer: Group[] = [];
  let group = groupOf(undefined, undefined, undefined);
  let before: string | undefined;
  for (const [i, token] of tokens.entries()) {
    const after = signOf(tokens[i + 1]);
    let sign = signOf(token);
    if (sign === '(' || sign === '[') {
      outer.push(group);
      group = groupOf(sign, before, after);
    } else if (sign === ')' || sign === ']') {
      group = closed(group, outer.pop(), sign, after);
    } else if (sign === 'or') group.hasOr = true;
    else if (sign === 'between') group.betweens++;
    else if (sign === 'and' && group.betweens > 0) {
      group.betweens--;
      sign = 'between';
    }
    before = sign;
  }
  if (outer.length > 0) throw new SqlRefusal('does not close a parenthesis that it opened');
}

/** A word in lower case, a symbol, or the kind of any other token. */
function signOf(token: SqlToken | undefined): string | undefined {
  return token?.kind === 'mark' ? token.text : (wordOf(token) ?? token?.kind);
}

function groupOf(
  opener: string | undefined,
  before: string | undefined,
  after: string | undefined,
): Group {
  return {
    opener,
    isCondition: opener !== '[' && BEFORE_CONDITION.has(before),
    isSubquery: after === 'select',
    hasOr: false,
    betweens: 0,
  };
}

/** The enclosing group of one that ends. The content of a subquery does not affect it. */
function closed(
  group: Group,
  parent: Group | undefined,
  closer: string,
  after: string | undefined,
): Group {
  if (!parent || group.opener !== OPENERS[closer]) {
    throw new SqlRefusal('closes a parenthesis that it did not open');
  }
  if (!group.hasOr || group.isSubquery) return parent;
  if (!group.isCondition || !AFTER_CONDITION.has(after)) {
    throw new SqlRefusal('holds an OR between parentheses that are no condition of their own');
  }
  return { ...parent, hasOr: true };
}
