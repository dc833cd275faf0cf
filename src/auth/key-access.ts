import { isOfStreams, type ApiKey, type Scope } from '../contract/api-key.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { checkForkSource, FORK_HEADER, scopeCovers } from '../contract/path-scope.ts';

/** Refuses a request that a valid API key does not open. Throws `scope_not_covered`. */
export function checkKeyAccess(
  key: Pick<ApiKey, 'scopes' | 'paths'>,
  scope: Scope,
  path: string,
  request: Pick<ClientRequest, 'headersDistinct'>,
): void {
  if (!keyOpens(key, scope, path)) throw notCovered(key, scope);
  if (!key.paths || !isOfStreams(scope)) return;
  const sources = request.headersDistinct[FORK_HEADER] ?? [];
  const [first] = sources;
  if (first === undefined) return;
  for (const source of sources) checkForkSource(source);
  // A server may read several as one path.
  if (sources.length > 1 || !scopeCovers(key.paths, first)) {
    throw new GatewayError(
      'scope_not_covered',
      `No path of the API key covers the stream in Stream-Forked-From for the scope ${scope}; name one that its paths cover, with /streams.`,
    );
  }
}

/** Whether a key opens a path for an action of this scope. The path must have passed `pathProblem`. */
export function keyOpens(
  { scopes, paths }: Pick<ApiKey, 'scopes' | 'paths'>,
  scope: Scope,
  path: string,
): boolean {
  if (!scopes.has(scope)) return false;
  return !paths || !isOfStreams(scope) || scopeCovers(paths, path);
}

export function notCovered({ scopes }: Pick<ApiKey, 'scopes'>, scope: Scope): GatewayError {
  const detail = scopes.has(scope)
    ? `No path of the API key covers this one for the scope ${scope}; use a key whose paths cover it.`
    : `The API key does not have the scope ${scope}; use a key that has it.`;
  return new GatewayError('scope_not_covered', detail);
}
