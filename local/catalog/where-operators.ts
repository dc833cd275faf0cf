import { as, condition, inOneType } from './where-values.ts';
import type { Condition, Expression, Truth, Value } from './where-values.ts';

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};
export const COMPARISON_SYMBOLS: readonly string[] = Object.keys(COMPARISONS);

/** OR with SQL's three values. AND follows from De Morgan's law, and IN is an OR of equalities. */
export function anyTrue(values: readonly Truth[]): Truth {
  if (values.includes(true)) return true;
  return values.includes(null) ? null : false;
}

export function negate(value: Truth): Truth {
  return value === null ? null : !value;
}

export function either(terms: readonly Condition[]): Condition {
  return (row) => anyTrue(terms.map((term) => term(row)));
}

export function both(terms: readonly Condition[]): Condition {
  return (row) => negate(anyTrue(terms.map((term) => negate(term(row)))));
}

export function negated(of: Condition): Condition {
  return (row) => negate(of(row));
}

/** `left symbol right`, or null if one of them is null. */
export function compared(symbol: string, left: Expression, right: Expression): Condition {
  const holds = COMPARISONS[symbol]!;
  const [one, other] = inOneType(symbol, left, right);
  return (row) => {
    const [a, b] = [one.at(row), other.at(row)];
    return a === null || b === null ? null : holds(orderOf(a, b));
  };
}

/** `IS NOT DISTINCT FROM`: two nulls are equal. */
export function same(left: Expression, right: Expression): Condition {
  const [one, other] = inOneType('IS DISTINCT FROM', left, right);
  return (row) => one.at(row) === other.at(row);
}

/** `left || right` */
export function joined(left: Expression, right: Expression): Expression {
  const [one, other] = [as('text', left, '||'), as('text', right, '||')];
  return {
    type: 'text',
    position: left.position,
    at: (row) => {
      const [a, b] = [one.at(row), other.at(row)];
      return a === null || b === null ? null : `${String(a)}${String(b)}`;
    },
  };
}

/** `LIKE`: `%` matches any text, `_` any character, and a backslash escapes the next one. */
export function like(left: Expression, right: Expression, ignoresCase: boolean): Expression {
  const [text, pattern] = [as('text', left, 'LIKE'), as('text', right, 'LIKE')];
  return condition(left.position, (row) => {
    const [subject, wanted] = [text.at(row), pattern.at(row)];
    if (subject === null || wanted === null) return null;
    return patternOf(String(wanted), ignoresCase).test(String(subject));
  });
}

function patternOf(pattern: string, ignoresCase: boolean): RegExp {
  const source = pattern.replace(/\\([\s\S])|[\s\S]/gu, (found, escaped?: string) => {
    if (found === '%') return '.*';
    return found === '_' ? '.' : (escaped ?? found).replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
  });
  return new RegExp(`^${source}$`, ignoresCase ? 'sui' : 'su');
}

/** Compares texts by their bytes, like SQLite and Postgres' "C" collation. */
function orderOf(a: Exclude<Value, null>, b: Exclude<Value, null>): number {
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return Number(a) - Number(b);
}
