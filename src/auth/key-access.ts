import { isOfStreams, type ApiKey, type Scope } from '../contract/api-key.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { isControlPlanePath, scopeCovers } from '../contract/path-scope.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { setAccess } from './request-access.ts';
import type { KeyRule } from './route-rules.ts';

/**
 * Lets a request in with a valid API key. `keyId` is the base64 of the key's SHA-256. Throws
 * `scope_not_covered` if the key does not open the route or the path.
 */
export function letInWithKey(
  key: Pick<ApiKey, 'name' | 'scopes' | 'paths'>,
  keyId: string,
  request: ClientRequest,
  rule: KeyRule,
): void {
  const { scope } = rule;
  const context = requestContext(request);
  context.credential = key.name;
  checkKeyAccess(key, rule, context.path, request);
  context.caller = { id: keyId, isSubject: false };
  setAccess(context, { scope });
}

/** Refuses a request that a valid API key does not open. Throws `scope_not_covered`. */
function checkKeyAccess(
  key: Pick<ApiKey, 'scopes' | 'paths'>,
  { scope, namedPath }: KeyRule,
  path: string,
  { headersDistinct }: Pick<ClientRequest, 'headersDistinct'>,
): void {
  if (!keyOpens(key, scope, path)) throw notCovered(key, scope);
  if (!key.paths || !isOfStreams(scope) || !namedPath) return;
  const { header } = namedPath;
  const named = headersDistinct[header.toLowerCase()] ?? [];
  const [first] = named;
  if (first === undefined) return;
  for (const each of named) namedPath.check(each);
  // A server may read several as one path.
  if (named.length > 1 || !pathsCover(key.paths, first)) {
    throw new GatewayError(
      'scope_not_covered',
      `No path of the API key covers the stream in ${header} for the scope ${scope}; name one that its paths cover, with /streams.`,
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
  return !paths || !isOfStreams(scope) || pathsCover(paths, path);
}

/** The control plane acts on any stream, so no path can limit it. */
function pathsCover(paths: NonNullable<ApiKey['paths']>, path: string): boolean {
  return scopeCovers(paths, path) && !isControlPlanePath(path);
}

export function notCovered({ scopes }: Pick<ApiKey, 'scopes'>, scope: Scope): GatewayError {
  const detail = scopes.has(scope)
    ? `No path of the API key covers this one for the scope ${scope}; use a key whose paths cover it.`
    : `The API key does not have the scope ${scope}; use a key that has it.`;
  return new GatewayError('scope_not_covered', detail);
}
