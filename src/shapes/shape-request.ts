import { isParams, type ShapeScope } from '../auth/shape-scope.ts';
import { topLevelKeys } from '../commands/top-level-keys.ts';
import { GatewayError } from '../errors/gateway-error.ts';

/** What a shape read asks for, as far as a read token has a say in it. Values are decoded. */
export interface ShapeRequest {
  table: string | undefined;
  where: string | undefined;
  subsetWhere: string | undefined;
  columns: string | undefined;
  /** By number, as in `$1`. */
  params: ReadonlyMap<string, string>;
}

/** Parameters that decide what is read; each must mean one thing to every reader. */
const DECIDING = new Set([
  'table',
  'where',
  'columns',
  'secret',
  'params',
  'subset__where',
  'subset__params',
]);

/**
 * Reads a raw query. Throws `duplicate_parameter` where one of the deciding parameters is given twice
 * or in a nested form (`where[]=`) that one server reads as the same name and another does not.
 */
export function parseShapeRequest(query: string): ShapeRequest {
  const values = new Map<string, string>();
  for (const pair of query.slice(1).split('&')) {
    const { name, value } = decodePair(pair);
    const [base = '', ...brackets] = name.split('[');
    if (!DECIDING.has(base)) continue;
    const key = brackets.length === 0 ? name : numberedName(name);
    if (values.has(key)) throw duplicate(name);
    values.set(key, value);
  }
  return {
    table: values.get('table'),
    where: values.get('where'),
    subsetWhere: values.get('subset__where'),
    columns: values.get('columns'),
    params: readParams(values),
  };
}

/** `params[1]` in one spelling, so that `params[01]` counts as the same. */
function numberedName(name: string): string {
  const [, base, number] = /^(params|subset__params)\[(\d{1,6})\]$/.exec(name) ?? [];
  if (base === undefined) {
    throw new GatewayError(
      'duplicate_parameter',
      `The parameter "${name}" must be given in its plain form.`,
    );
  }
  return `${base}[${Number(number)}]`;
}

/** The params by number, from `params[n]=` or from the one `params={"n":…}`, not from both. */
function readParams(values: ReadonlyMap<string, string>): Map<string, string> {
  const params = new Map<string, string>();
  for (const [key, value] of values) {
    const number = /^params\[(\d+)\]$/.exec(key)?.[1];
    if (number !== undefined) params.set(number, value);
  }
  const json = values.get('params');
  if (json === undefined) return params;
  if (params.size > 0) throw duplicate('params');
  for (const [number, value] of parseJsonParams(json)) params.set(number, value);
  return params;
}

/** Entries of `{"1":"x"}`: strings by number, each once, as two JSON readers could differ on more. */
function parseJsonParams(text: string): [string, string][] {
  try {
    const params: unknown = JSON.parse(text);
    if (isParams(params) && topLevelKeys(text).length === Object.keys(params).length) {
      return Object.entries(params);
    }
  } catch {
    // Falls through to the refusal.
  }
  throw new GatewayError('duplicate_parameter', 'Give "params" as params[1]=…, params[2]=….');
}

/**
 * Checks a request against what the token pins and what tables tokens may read. Throws
 * `table_not_allowed` and `shape_not_covered`.
 */
export function checkShapeRequest(
  request: ShapeRequest,
  pinned: ShapeScope | undefined,
  tables: '*' | readonly string[],
): void {
  const { table } = request;
  const isAllowed = pinned
    ? table === pinned.table
    : table !== undefined && (tables === '*' || tables.includes(table));
  if (!isAllowed) {
    throw new GatewayError(
      'table_not_allowed',
      'The read token may not read this table; ask for one with "table" that it may.',
    );
  }
  if (!pinned) return;
  if (pinned.where !== undefined && request.where !== pinned.where) throw notCovered('where');
  if (pinned.columns && !sameColumns(request.columns, pinned.columns)) throw notCovered('columns');
  const pinsParams = pinned.params !== undefined || pinned.where !== undefined;
  if (pinsParams && !sameParams(request.params, pinned.params ?? {})) throw notCovered('params');
}

function sameParams(
  asked: ReadonlyMap<string, string>,
  pinned: Readonly<Record<string, string>>,
): boolean {
  const entries = Object.entries(pinned);
  return (
    entries.length === asked.size && entries.every(([number, value]) => asked.get(number) === value)
  );
}

function sameColumns(asked: string | undefined, pinned: readonly string[]): boolean {
  const columns = asked === undefined ? undefined : columnNames(asked);
  return columns?.length === pinned.length && columns.every((name, i) => name === pinned[i]);
}

/**
 * Comma-separated SQL identifiers as the engine reads them: what is not quoted is folded to lower
 * case, so that the unquoted `Note` is no `Note` that a token pins. Undefined where it is no list.
 */
function columnNames(columns: string): string[] | undefined {
  const identifier = /\s*(?:"((?:[^"]|"")+)"|([^\s",]+))\s*(,|$)/y;
  const names: string[] = [];
  for (;;) {
    const [whole, quoted, plain = '', separator] = identifier.exec(columns) ?? [];
    if (whole === undefined) return undefined;
    names.push(quoted?.replaceAll('""', '"') ?? plain.replace(/[A-Z]/g, (c) => c.toLowerCase()));
    if (separator === '') return names;
  }
}

function decodePair(pair: string): { name: string; value: string } {
  const equals = pair.indexOf('=');
  const [name, value] =
    equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
  return { name: decode(name), value: decode(value) };
}

/** As a form is decoded (WHATWG URL, "application/x-www-form-urlencoded"). */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new GatewayError(
      'invalid_where',
      'The query holds percent-encoding that is broken or not UTF-8.',
    );
  }
}

function duplicate(name: string): GatewayError {
  return new GatewayError('duplicate_parameter', `Give the parameter "${name}" once only.`);
}

function notCovered(what: string): GatewayError {
  return new GatewayError(
    'shape_not_covered',
    `The read token pins "${what}"; ask for exactly what it pins.`,
  );
}
