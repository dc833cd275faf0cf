import { createHash } from 'node:crypto';
import { InvalidShapeRequest, parseChoice, readParameter } from './shape-parameters.ts';
import { columnNames, columnTypes, findTable } from './tables.ts';
import type { TableDefinition } from './tables.ts';
import { parseWhere } from './where-clause.ts';
import { WhereError } from './where-tokens.ts';
import type { Condition } from './where-values.ts';

/** The shape of a request: columns and rows of a table. */
export interface Shape {
  readonly table: TableDefinition;
  /** By name, as Electric sends them. */
  readonly columns: readonly string[];
  readonly matches: Condition;
  readonly replica: 'default' | 'full';
  /** Identical for requests that define the same shape. It is a part of the handles. */
  readonly digest: string;
}

const UNQUOTED = /^[A-Za-z_][A-Za-z0-9_$]*$/;
const QUOTED = /^"(?:[^"]|"")+"$/;
/** A separator outside quotes. */
const outsideQuotes = (separator: string): RegExp =>
  new RegExp(`${separator}(?=(?:[^"]*"[^"]*")*[^"]*$)`);

/** @throws InvalidShapeRequest */
export function parseShape(query: URLSearchParams): Shape {
  const table = parseTable(readParameter(query, 'table'));
  const columns = parseColumns(readParameter(query, 'columns'), table);
  const replica = parseChoice(query, 'replica', ['default', 'full']);
  const where = readParameter(query, 'where');
  const params = parseParams(query);
  const definition = JSON.stringify([table.name, where ?? null, params, columns, replica]);
  return {
    table,
    columns,
    replica,
    matches: where === undefined ? () => true : parseCondition('where', where, table, params),
    digest: createHash('sha256').update(definition).digest('hex').slice(0, 16),
  };
}

/** @throws InvalidShapeRequest in the name of `field` */
export function parseCondition(
  field: string,
  where: string,
  table: TableDefinition,
  params: Record<string, string>,
): Condition {
  try {
    return parseWhere(where, { columns: columnNames(table), types: columnTypes(table), params });
  } catch (error) {
    if (error instanceof WhereError) throw new InvalidShapeRequest(field, error.message);
    throw error;
  }
}

/** An SQL identifier: folded to lower case where not quoted, a quote doubled inside quotes. */
export function parseIdentifier(value: string, field: string): string {
  if (QUOTED.test(value)) return value.slice(1, -1).replaceAll('""', '"');
  if (UNQUOTED.test(value)) return value.toLowerCase();
  const problem =
    value === '' || value === '""'
      ? 'Invalid zero-length delimited identifier'
      : `Invalid unquoted identifier contains special characters: ${value}`;
  throw new InvalidShapeRequest(field, problem);
}

function parseTable(value: string | undefined): TableDefinition {
  if (value === undefined) throw new InvalidShapeRequest('table', "can't be blank");
  const parts = value
    .split(outsideQuotes('\\.'))
    .map((part) => parseIdentifier(part.trim(), 'table'));
  const [schema, name] = parts.length === 1 ? ['public', parts[0]] : parts;
  const table =
    schema === 'public' && parts.length <= 2 && name !== undefined ? findTable(name) : undefined;
  if (table === undefined) {
    throw new InvalidShapeRequest('table', `Table ${JSON.stringify(value)} does not exist`);
  }
  return table;
}

function parseColumns(value: string | undefined, table: TableDefinition): string[] {
  const known = columnNames(table);
  if (value === undefined) return known.toSorted();
  const wanted = value
    .split(outsideQuotes(','))
    .map((column) => parseIdentifier(column, 'columns'));
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const names = unknown.join(', ');
    throw new InvalidShapeRequest('columns', `The following columns are not found: ${names}`);
  }
  if (!wanted.includes(table.primaryKey)) {
    const problem = `The list of columns must include all primary key columns, missing: ${table.primaryKey}`;
    throw new InvalidShapeRequest('columns', problem);
  }
  return known.filter((name) => wanted.includes(name)).toSorted();
}

/** `params[1]=…&params[2]=…`, as the client writes them. */
function parseParams(query: URLSearchParams): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, value] of query) {
    if (name !== 'params' && !name.startsWith('params[')) continue;
    const number = /^params\[([1-9][0-9]*)\]$/.exec(name)?.[1];
    if (number === undefined) throw new InvalidShapeRequest('params', 'is invalid');
    params[number] = value;
  }
  refuseGaps(params, 'params');
  return params;
}

/** @throws InvalidShapeRequest */
export function refuseGaps(params: Record<string, string>, field: string): void {
  const numbers = Object.keys(params);
  if (numbers.every((number) => /^[1-9]\d*$/.test(number) && Number(number) <= numbers.length))
    return;
  const problem = 'Parameters must be numbered sequentially, starting from 1';
  throw new InvalidShapeRequest(field, problem);
}
