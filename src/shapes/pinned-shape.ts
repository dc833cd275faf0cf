import { isDeepStrictEqual } from 'node:util';
import type { ShapeScope } from '../auth/shape-scope.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import type { OrderedColumn } from './order-by.ts';
import type { ShapeParameters } from './shape-parameters.ts';
import { foldedName } from './sql-tokens.ts';

/** The parts of a shape read that a read token can pin. */
interface Asked extends ShapeParameters {
  order: readonly OrderedColumn[];
}

/** Throws `shape_not_covered` for a request that asks for something else than what the token pins. */
export function checkPinned(asked: Asked, pinned: ShapeScope): void {
  const where = asked.parameters.get('where');
  if (pinned.where !== undefined && where !== pinned.where) throw notCovered('where');
  if (pinned.columns) checkColumns(asked, pinned.columns, pinned.where !== undefined);
  const pinsParams = pinned.params !== undefined || pinned.where !== undefined;
  if (pinsParams && !isDeepStrictEqual(Object.fromEntries(asked.params), { ...pinned.params })) {
    throw notCovered('params');
  }
}

/**
 * Pinned columns hide the others. A condition on a hidden column would reveal its value by the returned rows, and
 * so would an order by it.
 */
function checkColumns(
  { parameters, order }: Asked,
  pinned: readonly string[],
  pinsWhere: boolean,
): void {
  const columns = columnNames(parameters.get('columns') ?? '');
  if (!isDeepStrictEqual(columns, pinned)) throw notCovered('columns');
  for (const clause of pinsWhere ? ['subset__where'] : ['where', 'subset__where']) {
    if (parameters.has(clause)) {
      throw notCovered('columns', `, and "${clause}" could tell of others; leave it out.`);
    }
  }
  if (!order.every(({ column }) => pinned.includes(column))) {
    throw notCovered('columns', '; order by these alone.');
  }
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

function notCovered(what: string, advice = '; request exactly what it pins.'): GatewayError {
  return new GatewayError('shape_not_covered', `The read token pins "${what}"${advice}`);
}
