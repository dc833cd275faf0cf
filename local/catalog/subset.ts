import { parseCondition, parseIdentifier, refuseGaps } from './shape-definition.ts';
import type { Shape } from './shape-definition.ts';
import { InvalidShapeRequest, readParameter } from './shape-parameters.ts';
import { columnNames } from './tables.ts';
import type { Row } from './tables.ts';
import type { Condition } from './where-values.ts';

/** Some rows of a shape, by the `subset__` parameters. */
export interface Subset {
  readonly matches: Condition;
  readonly order: (a: Row, b: Row) => number;
  readonly limit: number;
  readonly offset: number;
}

const TERM = /^\s*("(?:[^"]|"")+"|\S+?)(?:\s+(asc|desc))?(?:\s+nulls\s+(first|last))?\s*$/i;

/** @throws InvalidShapeRequest */
export function parseSubset(query: URLSearchParams, shape: Shape): Subset | undefined {
  if (![...query.keys()].some((name) => name.startsWith('subset__'))) return undefined;
  const where = readParameter(query, 'subset__where');
  const orderBy = readParameter(query, 'subset__order_by');
  const limit = parseCount(query, 'limit', 1);
  const offset = parseCount(query, 'offset', 0);
  if (orderBy === undefined && (limit ?? offset) !== undefined) {
    throw refused('order_by', 'order_by is required when limit or offset is present');
  }
  return {
    matches: where === undefined ? () => true : parseSubsetWhere(where, query, shape),
    order: orderBy === undefined ? () => 0 : parseOrder(orderBy, shape),
    limit: limit ?? Number.POSITIVE_INFINITY,
    offset: offset ?? 0,
  };
}

/** The rows of the subset, in its order. */
export function rowsOfSubset(
  { matches, order, limit, offset }: Subset,
  rows: readonly Row[],
): Row[] {
  return rows
    .filter((row) => matches(row) === true)
    .toSorted(order)
    .slice(offset, offset + limit);
}

function parseSubsetWhere(where: string, query: URLSearchParams, { table }: Shape): Condition {
  const params = parseJsonParams(readParameter(query, 'subset__params'));
  return inSubset(() => {
    refuseGaps(params, 'params');
    return parseCondition('where', where, table, params);
  });
}

function parseJsonParams(text: string | undefined): Record<string, string> {
  if (text === undefined) return {};
  let params: unknown;
  try {
    params = JSON.parse(text);
  } catch {
    throw refused('params', 'params must be valid JSON');
  }
  if (typeof params !== 'object' || params === null || Array.isArray(params)) {
    throw refused('params', 'params must be a JSON object');
  }
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}

function parseCount(query: URLSearchParams, name: string, least: number): number | undefined {
  const text = readParameter(query, `subset__${name}`);
  if (text === undefined) return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw refused(name, 'is invalid');
  if (Number(text) >= least) return Number(text);
  const relation = least === 1 ? 'greater than 0' : 'greater than or equal to 0';
  throw refused(name, `must be ${relation}`);
}

/** Nulls come last, or first in descending order, as in Postgres. */
function parseOrder(orderBy: string, { table }: Shape): (a: Row, b: Row) => number {
  const terms = orderBy.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/).map((term) => {
    const [, identifier = '', direction = 'asc', nulls] = TERM.exec(term) ?? [];
    const name = inSubset(() => parseIdentifier(identifier, 'order_by'));
    if (!columnNames(table).includes(name)) throw refused('order_by', `unknown column ${name}`);
    const isTurned = direction.toLowerCase() === 'desc';
    const nullsFirst = nulls === undefined ? isTurned : nulls.toLowerCase() === 'first';
    return { name, sign: isTurned ? -1 : 1, nullsFirst };
  });
  return (a, b) => {
    for (const { name, sign, nullsFirst } of terms) {
      const [one, other] = [a[name] ?? null, b[name] ?? null];
      if (one === other) continue;
      if (one === null) return nullsFirst ? -1 : 1;
      if (other === null) return nullsFirst ? 1 : -1;
      return sign * Buffer.compare(Buffer.from(one), Buffer.from(other));
    }
    return 0;
  };
}

function refused(field: string, problem: string): InvalidShapeRequest {
  return new InvalidShapeRequest(field, problem, 'subset');
}

/** Names the group of the field that a general rule refuses. */
function inSubset<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof InvalidShapeRequest)) throw error;
    const [field = '', problems] = Object.entries(error.errors)[0] ?? [];
    throw refused(field, (problems as string[])[0] ?? '');
  }
}
