import type { ReadToken } from '../auth/read-token.ts';
import type { GatewayConfig } from '../contract/gateway-config.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { withoutSecrets } from '../proxy/upstream/protocols/electric.ts';
import { tokenQuery } from './token-query.ts';

/** The only path under `/shapes` that a read token opens. */
export const SHAPE_PATH = '/shapes/v1/shape';

/**
 * The query for the sync engine: the client's bytes without its credentials, and the engine's secret. With a read
 * token only shape reads are allowed, only listed parameters are accepted, and the rows are limited to the tenant.
 * `query` has its leading `?`, or is empty. Throws 400 and 403 as documented.
 */
export function shapeQuery(
  { path, query }: { path: string; query: string },
  readToken: ReadToken | undefined,
  rules: Pick<GatewayConfig, 'shapes' | 'tenant'>,
  syncSecret: string | undefined,
): string {
  if (readToken && path !== SHAPE_PATH) {
    throw new GatewayError(
      'prefix_not_covered',
      `Under /shapes a read token opens ${SHAPE_PATH} only.`,
    );
  }
  const forwarded = readToken ? tokenQuery(query, readToken.shape, rules) : withoutSecrets(query);
  if (syncSecret === undefined) return forwarded;
  // The secret comes first, because a "#" of the client would end the query for some servers.
  const secret = `?secret=${encodeURIComponent(syncSecret)}`;
  return forwarded.length > 1 ? `${secret}&${forwarded.slice(1)}` : secret;
}
