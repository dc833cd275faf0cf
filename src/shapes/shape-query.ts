import type { ReadToken } from '../auth/read-token.ts';
import type { GatewayConfig } from '../contract/gateway-config.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { withoutSecrets } from '../proxy/upstream/protocols/electric.ts';
import { tokenQuery } from './token-query.ts';

/** The only path under `/shapes` that a read token opens. */
export const SHAPE_PATH = '/shapes/v1/shape';

/** A shape read as received. */
export interface ShapeRead {
  /** The path without the query. */
  path: string;
  /** The query with its leading `?`, or empty. */
  query: string;
  /** The read token, or undefined for an API key. */
  readToken?: ReadToken | undefined;
}

interface ShapeRules extends Pick<GatewayConfig, 'shapes' | 'tenant'> {
  /** The sync engine's secret, if it has one. */
  syncSecret: string | undefined;
}

/**
 * The query for the sync engine: the client's bytes without its credentials, and the engine's secret. With a read
 * token only shape reads are allowed, only listed parameters are accepted, and the rows are limited to the tenant.
 * Throws 400 and 403 as documented.
 */
export function shapeQuery(
  { path, query, readToken }: ShapeRead,
  { syncSecret, ...rules }: ShapeRules,
): string {
  if (readToken) checkPath(path);
  const forwarded = readToken ? tokenQuery(query, readToken.shape, rules) : withoutSecrets(query);
  if (syncSecret === undefined) return forwarded;
  // The secret comes first, because a "#" of the client would end the query for some servers.
  const secret = `?secret=${encodeURIComponent(syncSecret)}`;
  return forwarded.length > 1 ? `${secret}&${forwarded.slice(1)}` : secret;
}

function checkPath(path: string): void {
  if (path === SHAPE_PATH) return;
  throw new GatewayError(
    'prefix_not_covered',
    `Under /shapes a read token opens ${SHAPE_PATH} only.`,
  );
}
