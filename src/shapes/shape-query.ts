import type { ReadToken } from '../auth/read-token.ts';
import type { GatewayConfig } from '../config/gateway-config.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { withoutParameters, withoutSecrets } from '../proxy/query.ts';
import type { RequestContext } from '../request/request-context.ts';
import { checkShapeRequest, parseShapeRequest } from './shape-request.ts';
import { fencedWhere, ownWhereProblem, whereProblem } from './where-clause.ts';

const SHAPE_PATH = '/shapes/v1/shape';

type ShapeRules = Pick<GatewayConfig, 'shapes' | 'sync' | 'tenant'>;

/**
 * The query that goes to the sync engine: the client's bytes without any credential of its own, with
 * the engine's secret. With a read token only shape reads are open, each is checked, and the rows
 * are fenced to the tenant. Throws 400 and 403 as documented.
 */
export function shapeQuery(
  { path, query, readToken }: Pick<RequestContext, 'path' | 'query' | 'readToken'>,
  { shapes, sync, tenant }: ShapeRules,
): string {
  let forwarded = withoutSecrets(query);
  if (readToken) {
    checkPath(path);
    forwarded = tokenQuery(query, forwarded, readToken, shapes, tenant);
  }
  if (sync.secret === undefined) return forwarded;
  return withParameter(forwarded, 'secret', sync.secret);
}

function checkPath(path: string): void {
  if (path === SHAPE_PATH) return;
  throw new GatewayError(
    'prefix_not_covered',
    `Under /shapes a read token opens ${SHAPE_PATH} only.`,
  );
}

function tokenQuery(
  query: string,
  forwarded: string,
  token: ReadToken,
  { tables, tenantColumn }: GatewayConfig['shapes'],
  tenant: string,
): string {
  const request = parseShapeRequest(query);
  checkShapeRequest(request, token.shape, tables);
  // A pinned clause is the minting back end's own, and was asked for to the letter.
  const isOwn = token.shape?.where === undefined;
  checkClause(request.where, isOwn ? ownWhereProblem : whereProblem);
  checkClause(request.subsetWhere, ownWhereProblem);
  if (tenantColumn === '') return forwarded;
  const fenced = fencedWhere(tenantColumn, tenant, request.where);
  return withParameter(withoutParameters(forwarded, ['where']), 'where', fenced);
}

function checkClause(
  clause: string | undefined,
  problemOf: (clause: string) => string | undefined,
): void {
  const problem = clause === undefined ? undefined : problemOf(clause);
  if (problem) throw new GatewayError('invalid_where', `The where clause ${problem}.`);
}

function withParameter(query: string, name: string, value: string): string {
  const separator = query === '' ? '?' : query === '?' ? '' : '&';
  return `${query}${separator}${name}=${encodeURIComponent(value)}`;
}
