import { isParams, type ShapeScope } from '../auth/shape-scope.ts';
import type { GatewayConfig } from '../contract/gateway-config.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { parsedJson } from '../platform/http/parsed-json.ts';
import { topLevelKeys } from '../platform/http/top-level-keys.ts';
import { ownClause } from './clause-parser.ts';
import { parseOrderBy, printOrderBy, type OrderedColumn } from './order-by.ts';
import { checkPinned } from './pinned-shape.ts';
import { printParameters, readShapeParameters } from './shape-parameters.ts';
import { SqlRefusal } from './sql-tokens.ts';

/**
 * The query of a shape read with a read token, limited to the tenant's rows. Clauses and orders of the client are parsed
 * and printed in the gateway's own words. A pinned clause stays as it is, because whoever minted the token wrote it.
 * Throws 400 and 403 as documented.
 */
export function tokenQuery(
  query: string,
  pinned: ShapeScope | undefined,
  { shapes: { tables, tenantColumn }, tenant }: Pick<GatewayConfig, 'shapes' | 'tenant'>,
): string {
  const { parameters, params } = readShapeParameters(query);
  const valueOf = (name: string): string | undefined => parameters.get(name);
  checkCount('subset__limit', valueOf('subset__limit'));
  checkCount('subset__offset', valueOf('subset__offset'));
  const order = orderOf(valueOf('subset__order_by'));
  const subsetParams = subsetParamsOf(valueOf('subset__params'));
  for (const [number, value] of params) checkText(`params[${number}]`, value);
  checkTable(valueOf('table'), pinned ? [pinned.table] : tables);
  if (pinned) checkPinned({ parameters, params, order }, pinned);

  const sent = new Map(parameters);
  if (order.length > 0) sent.set('subset__order_by', printOrderBy(order));
  const subset = checkedClause('subset__where', valueOf('subset__where'), subsetParams);
  if (subset !== undefined) sent.set('subset__where', subset);
  const where = pinned?.where ?? checkedClause('where', valueOf('where'), params);
  sent.delete('where');
  const fenced = tenantColumn === '' ? where : fencedWhere(tenantColumn, tenant, where);
  if (fenced !== undefined) sent.set('where', fenced);
  return printParameters(sent);
}

function checkTable(table: string | undefined, tables: '*' | readonly string[]): void {
  if (table !== undefined && (tables === '*' || tables.includes(table))) return;
  throw new GatewayError(
    'table_not_allowed',
    'The read token does not cover this table; name one in "table" that it covers.',
  );
}

/** The client's clause in the gateway's words. */
function checkedClause(
  name: string,
  clause: string | undefined,
  params: ReadonlyMap<string, string>,
): string | undefined {
  if (clause === undefined) return undefined;
  return orInvalid('invalid_where', `The clause in "${name}"`, () => ownClause(clause, params));
}

function orderOf(order: string | undefined): OrderedColumn[] {
  if (order === undefined) return [];
  return orInvalid('invalid_order_by', '"subset__order_by"', () => parseOrderBy(order));
}

function orInvalid<T>(
  code: 'invalid_where' | 'invalid_order_by',
  subject: string,
  parse: () => T,
): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SqlRefusal) throw new GatewayError(code, `${subject} ${error.message}.`);
    throw error;
  }
}

/** Adds the condition that limits a read token to its tenant's rows. */
function fencedWhere(column: string, tenant: string, where: string | undefined): string {
  const fence = `"${column}" = '${tenant}'`;
  return where === undefined ? fence : `(${fence}) AND (${where})`;
}

function checkCount(name: string, value: string | undefined): void {
  if (value === undefined || /^\d{1,9}$/.test(value)) return;
  throw invalid(`Give "${name}" as a number of 1 to 9 digits.`);
}

/** `{"1":"x"}`: strings by number, each at most once, because JSON parsers differ on duplicates. */
function subsetParamsOf(value: string | undefined): Map<string, string> {
  if (value === undefined) return new Map();
  const params = parsedJson(value);
  if (!isParams(params) || topLevelKeys(value).length !== Object.keys(params).length) {
    throw invalid('Give "subset__params" as a JSON object of strings by number: {"1":"x"}.');
  }
  for (const param of Object.values(params)) checkText('subset__params', param);
  return new Map(Object.entries(params));
}

/** PostgreSQL has no zero byte in texts, and a parser in C would take it for the end. */
function checkText(name: string, value: string): void {
  if (value.includes('\0')) throw invalid(`"${name}" must not hold a zero byte.`);
}

function invalid(detail: string): GatewayError {
  return new GatewayError('invalid_parameter', detail);
}
