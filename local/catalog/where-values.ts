import { toTimestamptz } from './timestamps.ts';
import type { Row } from './tables.ts';
import { WhereError } from './where-tokens.ts';

/** `unknown` is a string literal, a parameter or NULL. It takes the type of the other operand, as in Postgres. */
export type ValueType = 'text' | 'timestamptz' | 'number' | 'boolean' | 'unknown';
export type Value = string | number | boolean | null;

export interface Expression {
  readonly type: ValueType;
  readonly position: number;
  readonly at: (row: Row) => Value;
}

/** SQL's three values: `null` is "unknown". */
export type Truth = boolean | null;
export type Condition = (row: Row) => Truth;

/** The names of types in casts and typed literals. */
const TYPES: Readonly<Record<string, ValueType>> = {
  text: 'text',
  varchar: 'text',
  timestamptz: 'timestamptz',
  timestamp: 'timestamptz',
  date: 'timestamptz',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  integer: 'number',
  bigint: 'number',
  float8: 'number',
  numeric: 'number',
  bool: 'boolean',
  boolean: 'boolean',
};
const NO_ROW: Row = {};

export function typeNamed(name: string): ValueType | undefined {
  return Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
}

export function constant(type: ValueType, position: number, value: Value): Expression {
  return { type, position, at: () => value };
}

export function condition(position: number, judge: Condition): Expression {
  return { type: 'boolean', position, at: judge };
}

/** The boolean value of an expression. */
export function truthOf(expression: Expression): Condition {
  const { at } = as('boolean', expression, 'a condition');
  return (row) => at(row) as Truth;
}

/** Converts both to one type: an unknown one takes the type of the other, and two unknown ones are text. */
export function inOneType(
  operator: string,
  left: Expression,
  right: Expression,
): [Expression, Expression] {
  const known = left.type === 'unknown' ? right.type : left.type;
  const type = known === 'unknown' ? 'text' : known;
  return [as(type, left, operator), as(type, right, operator)];
}

/** @throws WhereError if it is of another type, or a constant that cannot be read as this one */
export function as(type: ValueType, expression: Expression, user: string): Expression {
  if (expression.type === type) return expression;
  if (expression.type === 'unknown') return cast(type, expression);
  const problem = `${user} takes ${type} here, not ${expression.type}`;
  throw new WhereError(expression.position, problem);
}

/** `expression::type`. A constant is read at once, so that one which cannot be read is refused. */
export function cast(type: ValueType, expression: Expression): Expression {
  const { position } = expression;
  if (expression.type === 'unknown') {
    return constant(type, position, convert(type, expression.at(NO_ROW), position));
  }
  return { type, position, at: (row) => convert(type, expression.at(row), position) };
}

function convert(type: ValueType, value: Value, position: number): Value {
  if (value === null) return null;
  const read = READERS[type](String(value));
  if (read === undefined) {
    throw new WhereError(position, `invalid ${type}: ${JSON.stringify(value)}`);
  }
  return read;
}

const READERS: Readonly<Record<ValueType, (text: string) => Value | undefined>> = {
  unknown: (text) => text,
  text: (text) => text,
  timestamptz: toTimestamptz,
  number: (text) => (/^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined),
  boolean: (text) => {
    const word = text.trim().toLowerCase();
    if (['true', 't', 'yes', 'on', '1'].includes(word)) return true;
    return ['false', 'f', 'no', 'off', '0'].includes(word) ? false : undefined;
  },
};
