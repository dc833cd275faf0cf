import { isOfStreams, type ApiKey, type Scope } from '../platform/config/api-key.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import type { ClientRequest } from '../platform/http/client-request.ts';
import { isNamed } from '../platform/http/header-list.ts';
import { isControlPlanePath, scopeCovers } from '../platform/http/path-scope.ts';
import { requestContext } from '../platform/server/request-context.ts';
import { checkForkSource, durableStreams } from '../proxy/upstream/protocols/durable-streams.ts';
import { setAccess } from './request-access.ts';

/** The only other header of a request that names a stream: the stream that a new one is forked from. */
const FORK_SOURCE = durableStreams.mappedHeader?.name ?? '';

/**
 * Lets a request in with a valid API key. `credentialId` is the base64 of the key's SHA-256. Throws
 * `scope_not_covered` if the key does not open the route or the path.
 */
export function letInWithKey(
  key: Pick<ApiKey, 'name' | 'scopes' | 'paths'>,
  credentialId: string,
  request: ClientRequest,
  scope: Scope,
): void {
  const context = requestContext(request);
  context.credential = key.name;
  checkKeyAccess(key, scope, context.path, request);
  setAccess(context, { credentialId, scope });
}

/** Refuses a request that a valid API key does not open. Throws `scope_not_covered`. */
function checkKeyAccess(
  key: Pick<ApiKey, 'scopes' | 'paths'>,
  scope: Scope,
  path: string,
  { rawHeaders }: Pick<ClientRequest, 'rawHeaders'>,
): void {
  if (!keyOpens(key, scope, path)) throw notCovered(key, scope);
  if (!key.paths || !isOfStreams(scope)) return;
  const sources = rawHeaders.filter(
    (_, index) => index % 2 === 1 && isNamed(rawHeaders[index - 1], FORK_SOURCE),
  );
  const [source] = sources;
  if (source === undefined) return;
  for (const each of sources) checkForkSource(each);
  // The history store may read several as one path.
  if (sources.length > 1 || !pathsCover(key.paths, source)) {
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
