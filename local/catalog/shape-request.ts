import { createHash } from 'node:crypto';
import { columnNames, findTable } from './tables.ts';
import type { TableDefinition } from './tables.ts';
import { parseWhere } from './where-clause.ts';
import type { Condition } from './where-clause.ts';
import { WhereError } from './where-tokens.ts';

/** What a client wants to see: these columns of these rows of this table. */
export interface Shape {
  readonly table: TableDefinition;
  readonly columns: readonly string[];
  readonly matches: Condition;
  readonly replica: 'default' | 'full';
  /** The same for requests that define the same shape; part of its handles. */
  readonly digest: string;
}

export interface ShapeRequest {
  readonly shape: Shape;
  /** `all` is `-1`; a number is the lsn of an offset `<lsn>_<op>`. */
  readonly offset: 'all' | 'now' | number;
  readonly handle: string;
  readonly live: boolean;
  readonly changesOnly: boolean;
  readonly cursor: string | undefined;
}

/** The `errors` of Electric's 400 body, by parameter. */
export class InvalidShapeRequest extends Error {
  readonly errors: Readonly<Record<string, readonly string[]>>;

  constructor(field: string, problem: string) {
    super(`${field}: ${problem}`);
    this.name = 'InvalidShapeRequest';
    this.errors = { [field]: [problem] };
  }
}

/** @throws InvalidShapeRequest */
export function parseShapeRequest(query: URLSearchParams): ShapeRequest {
  refuseWhatIsNotServed(query);
  const offset = parseOffset(readParameter(query, 'offset'));
  const handle = readParameter(query, 'handle') ?? '';
  const live = parseFlag(query, 'live');
  if (typeof offset === 'number') {
    if (handle === '') throw new InvalidShapeRequest('handle', "can't be blank when offset != -1");
  } else if (live) {
    const name = offset === 'all' ? 'offset == -1' : "offset is 'now'";
    throw new InvalidShapeRequest('live', `can't be true when ${name}`);
  }
  return {
    shape: parseShape(query),
    offset,
    handle,
    live,
    changesOnly: parseChoice(query, 'log', ['full', 'changes_only']) === 'changes_only',
    cursor: readParameter(query, 'cursor'),
  };
}

/** Of a parameter given twice Electric takes the last (Plug does); a blank one counts as not given. */
export function readParameter(query: URLSearchParams, name: string): string | undefined {
  const value = query.getAll(name).at(-1);
  return value === undefined || value.trim() === '' ? undefined : value;
}

function parseShape(query: URLSearchParams): Shape {
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
    matches: where === undefined ? () => true : parseCondition(where, table, params),
    digest: createHash('sha256').update(definition).digest('hex').slice(0, 16),
  };
}

/** A parameter that were ignored would lose data: a client that asks for SSE drops a JSON answer. */
function refuseWhatIsNotServed(query: URLSearchParams): void {
  for (const name of query.keys()) {
    if (name.startsWith('subset__')) {
      throw new InvalidShapeRequest(name, 'is not served by the stand-in for Electric');
    }
  }
  for (const name of ['live_sse', 'experimental_live_sse']) {
    if (parseFlag(query, name)) {
      throw new InvalidShapeRequest(name, 'is not served by the stand-in for Electric');
    }
  }
}

function parseOffset(value: string | undefined): ShapeRequest['offset'] {
  if (value === undefined) throw new InvalidShapeRequest('offset', "can't be blank");
  if (value === '-1') return 'all';
  if (value === 'now') return 'now';
  const lsn = /^([0-9]{1,15})_([0-9]+|inf)$/.exec(value)?.[1];
  if (lsn === undefined) throw new InvalidShapeRequest('offset', 'has invalid format');
  return Number(lsn);
}

function parseFlag(query: URLSearchParams, name: string): boolean {
  const value = readParameter(query, name);
  if (value === undefined || value === 'false' || value === '0') return false;
  if (value === 'true' || value === '1') return true;
  throw new InvalidShapeRequest(name, 'is invalid');
}

function parseChoice<T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly [T, T],
): T {
  const value = readParameter(query, name);
  const chosen = value === undefined ? choices[0] : choices.find((choice) => choice === value);
  if (chosen === undefined) throw new InvalidShapeRequest(name, 'is invalid');
  return chosen;
}

function parseTable(value: string | undefined): TableDefinition {
  if (value === undefined) throw new InvalidShapeRequest('table', "can't be blank");
  const parts = splitIdentifiers(value, '.', 'table');
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
  if (value === undefined) return known;
  const wanted = splitIdentifiers(value, ',', 'columns');
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const names = unknown.join(', ');
    throw new InvalidShapeRequest('columns', `The following columns are not found: ${names}`);
  }
  if (!wanted.includes(table.primaryKey)) {
    const problem = `The list of columns must include all primary key columns, missing: ${table.primaryKey}`;
    throw new InvalidShapeRequest('columns', problem);
  }
  return known.filter((name) => wanted.includes(name));
}

/** SQL identifiers: folded to lower case where not quoted, a quote doubled inside quotes. */
function splitIdentifiers(value: string, separator: string, field: string): string[] {
  const identifier = '\\s*(?:"((?:[^"]|"")+)"|([A-Za-z_][A-Za-z0-9_$]*))\\s*';
  const pattern = new RegExp(`${identifier}(?:\\${separator}|$)`, 'y');
  const names: string[] = [];
  let endsOpen = true;
  while (endsOpen) {
    const found = pattern.exec(value);
    if (found === null) throw new InvalidShapeRequest(field, 'Invalid identifier');
    names.push(found[1]?.replaceAll('""', '"') ?? found[2]!.toLowerCase());
    endsOpen = found[0].endsWith(separator);
  }
  return names;
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
  return params;
}

function parseCondition(
  where: string,
  table: TableDefinition,
  params: Record<string, string>,
): Condition {
  try {
    return parseWhere(where, { columns: columnNames(table), params });
  } catch (error) {
    if (error instanceof WhereError) throw new InvalidShapeRequest('where', error.message);
    throw error;
  }
}
