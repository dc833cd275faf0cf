import { GatewayError } from '../platform/errors/gateway-error.ts';
import { isReadMethod } from '../platform/http/client-request.ts';
import { scopeCovers } from '../contract/path-scope.ts';
import type { ReadToken } from './read-token.ts';

/**
 * Refuses a request that a valid read token does not open. The path must have passed `pathProblem`.
 * Throws `read_only_token` and `prefix_not_covered`.
 */
export function checkReadAccess(
  token: Pick<ReadToken, 'scope'>,
  method: string,
  path: string,
): void {
  if (!isReadMethod(method)) {
    throw new GatewayError(
      'read_only_token',
      'A read token opens GET and HEAD only; use an API key.',
    );
  }
  if (!scopeCovers(token.scope, path)) {
    throw new GatewayError(
      'prefix_not_covered',
      'No prefix of the read token covers this path; mint a token for it.',
    );
  }
}
