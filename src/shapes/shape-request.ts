import { isParams } from '../auth/shape-scope.ts';
import { topLevelKeys } from '../http/top-level-keys.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { orderByColumns } from './order-by.ts';
import { paramsByNumber, type ShapeParameter } from './shape-parameters.ts';

/** The parts of a shape read that a read token can limit. Values are decoded. */
export interface ShapeRequest {
  table: string | undefined;
  where: string | undefined;
  subsetWhere: string | undefined;
  columns: string | undefined;
  /** The columns of `subset__order_by`. */
  orderBy: readonly string[];
  /** The values of parameters by number, as in `$1`. */
  params: ReadonlyMap<string, string>;
  /** The same of `subset__params`, for `subset__where`. */
  subsetParams: ReadonlyMap<string, string>;
}

/** Throws `unknown_parameter`, `invalid_parameter` and `invalid_order_by`. */
export function shapeRequestOf(parameters: ReadonlyMap<string, ShapeParameter>): ShapeRequest {
  const valueOf = (name: string): string | undefined => parameters.get(name)?.value;
  const orderBy = valueOf('subset__order_by');
  checkCount('subset__limit', valueOf('subset__limit'));
  checkCount('subset__offset', valueOf('subset__offset'));
  const subsetParams = subsetParamsOf(valueOf('subset__params'));
  const params = paramsByNumber(parameters);
  for (const [number, value] of params) checkText(`params[${number}]`, value);
  return {
    table: valueOf('table'),
    where: valueOf('where'),
    subsetWhere: valueOf('subset__where'),
    columns: valueOf('columns'),
    orderBy: orderBy === undefined ? [] : orderByColumns(orderBy),
    params,
    subsetParams,
  };
}

function checkCount(name: string, value: string | undefined): void {
  if (value === undefined || /^\d{1,9}$/.test(value)) return;
  throw invalid(`Give "${name}" as a number of 1 to 9 digits.`);
}

/** `{"1":"x"}`: strings by number, each at most once, because JSON parsers differ on duplicates. */
function subsetParamsOf(value: string | undefined): Map<string, string> {
  if (value === undefined) return new Map();
  const params = parseJson(value);
  if (!isParams(params) || topLevelKeys(value).length !== Object.keys(params).length) {
    throw invalid('Give "subset__params" as a JSON object of strings by number: {"1":"x"}.');
  }
  for (const param of Object.values(params)) checkText('subset__params', param);
  return new Map(Object.entries(params));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** PostgreSQL has no zero byte in texts, and a parser in C would take it for the end. */
function checkText(name: string, value: string): void {
  if (value.includes('\0')) throw invalid(`"${name}" must not hold a zero byte.`);
}

function invalid(detail: string): GatewayError {
  return new GatewayError('invalid_parameter', detail);
}
