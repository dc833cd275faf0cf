import { GatewayError } from '../platform/errors/gateway-error.ts';
import { pathProblem, uriDecoded } from '../platform/http/request-path.ts';
import { isReadPath, READ_PREFIXES } from './routes.ts';

/** The paths that a token's prefixes cover. Each prefix is a list of decoded segments. */
export type PathScope = readonly (readonly string[])[];

/** The header in which a request names the stream that a new one is made of. Its value is a path, too. */
export const FORK_HEADER = 'stream-forked-from';

/** The protocol's control plane in the history store. Only API keys open it. */
const CONTROL_PLANE_SEGMENT = '__ds';

/** The scope of a token's prefixes, or undefined if one of them is not a prefix of a readable path. */
export function parsePathScope(prefixes: readonly string[]): PathScope | undefined {
  const scope: string[][] = [];
  for (const prefix of prefixes) {
    const isOfReads = isReadPath(prefix) || READ_PREFIXES.some((root) => root === prefix);
    if (!isOfReads || pathProblem(prefix) !== undefined) return undefined;
    scope.push(decodedSegments(prefix));
  }
  return scope;
}

/**
 * Whether a prefix's segments are the first segments of the path: `/streams/t/a1` covers `/streams/t/a1/x` and
 * never `/streams/t/a10`. The path must have passed `pathProblem`, so that decoding it once gives the segments that
 * every upstream sees. The control plane acts on any stream, so no scope covers it.
 */
export function scopeCovers(scope: PathScope, path: string): boolean {
  const segments = decodedSegments(path);
  return (
    scope.some((prefix) => prefix.every((segment, i) => segments[i] === segment)) &&
    !isControlPlanePath(path)
  );
}

/** Whether a path names the history store's control plane, however often it is encoded. */
export function isControlPlanePath(path: string): boolean {
  return decodedSegments(path).some(
    (segment) => segment === CONTROL_PLANE_SEGMENT || uriDecoded(segment) === CONTROL_PLANE_SEGMENT,
  );
}

/** Throws `malformed_path` for a value of `Stream-Forked-From`, as for a request path. */
export function checkForkSource(source: string): void {
  const problem = pathProblem(source);
  if (problem) {
    throw new GatewayError(
      'malformed_path',
      `The path in Stream-Forked-From ${problem}; send it in its plain, normalized form.`,
    );
  }
}

/** A trailing slash changes nothing, so the empty segment after it is left out. */
function decodedSegments(path: string): string[] {
  const segments = path.split('/').slice(1);
  if (segments.at(-1) === '') segments.pop();
  return path.includes('%') ? segments.map(decodeURIComponent) : segments;
}
