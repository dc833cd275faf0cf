import type { ShapeScope } from '../auth/shape-scope.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { ShapeRequest } from './shape-request.ts';
import { foldedName } from './sql-tokens.ts';
import { ownWhereProblem, whereProblem } from './where-clause.ts';

/**
 * Checks a request against the shape that the token pins and the tables that tokens may read. Throws
 * `table_not_allowed`, `shape_not_covered` and `invalid_where`.
 */
export function checkShapeRequest(
  request: ShapeRequest,
  pinned: ShapeScope | undefined,
  tables: '*' | readonly string[],
): void {
  checkTable(request, pinned, tables);
  if (pinned) checkPinned(request, pinned);
  // The minting back end wrote the pinned clause, and the request repeats it exactly.
  const isOwn = pinned?.where === undefined;
  checkClause('where', request.where, (clause) =>
    isOwn ? ownWhereProblem(clause, request.params) : whereProblem(clause),
  );
  checkClause('subset__where', request.subsetWhere, (clause) =>
    ownWhereProblem(clause, request.subsetParams),
  );
}

function checkTable(
  { table }: ShapeRequest,
  pinned: ShapeScope | undefined,
  tables: '*' | readonly string[],
): void {
  const isAllowed = pinned
    ? table === pinned.table
    : table !== undefined && (tables === '*' || tables.includes(table));
  if (isAllowed) return;
  throw new GatewayError(
    'table_not_allowed',
    'The read token does not cover this table; name one in "table" that it covers.',
  );
}

function checkPinned(request: ShapeRequest, pinned: ShapeScope): void {
  if (pinned.where !== undefined && request.where !== pinned.where) throw notCovered('where');
  if (pinned.columns) checkColumns(request, pinned.columns, pinned.where !== undefined);
  const pinsParams = pinned.params !== undefined || pinned.where !== undefined;
  if (pinsParams && !sameParams(request.params, pinned.params ?? {})) throw notCovered('params');
}

/**
 * Pinned columns hide the others. A condition on a hidden column would reveal its value by the returned rows, and
 * so would an order by it.
 */
function checkColumns(
  { columns, where, subsetWhere, orderBy }: ShapeRequest,
  pinned: readonly string[],
  pinsWhere: boolean,
): void {
  if (!sameColumns(columns, pinned)) throw notCovered('columns');
  if (where !== undefined && !pinsWhere) throw hidden('where');
  if (subsetWhere !== undefined) throw hidden('subset__where');
  if (!orderBy.every((column) => pinned.includes(column))) {
    throw new GatewayError(
      'shape_not_covered',
      'The read token pins "columns"; order by these alone.',
    );
  }
}

function checkClause(
  name: string,
  clause: string | undefined,
  problemOf: (clause: string) => string | undefined,
): void {
  const problem = clause === undefined ? undefined : problemOf(clause);
  if (problem) throw new GatewayError('invalid_where', `The clause in "${name}" ${problem}.`);
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
 * Parses comma-separated SQL identifiers like the engine: unquoted names are folded to lower case, so that an
 * unquoted `Note` is not the `Note` that a token pins. Undefined if it is not a list.
 */
function columnNames(columns: string): string[] | undefined {
  const identifier = /\s*("(?:[^"]|"")+"|[^\s",]+)\s*(,|$)/y;
  const names: string[] = [];
  for (;;) {
    const [whole, name = '', separator] = identifier.exec(columns) ?? [];
    if (whole === undefined) return undefined;
    names.push(foldedName(name));
    if (separator === '') return names;
  }
}

function notCovered(what: string): GatewayError {
  return new GatewayError(
    'shape_not_covered',
    `The read token pins "${what}"; request exactly what it pins.`,
  );
}

function hidden(name: string): GatewayError {
  return new GatewayError(
    'shape_not_covered',
    `The read token pins "columns", and "${name}" could tell of others; leave it out.`,
  );
}
