import type { ServerResponse } from 'node:http';
import type { ClientRequest } from '../http/client-request.ts';

/** What Nest makes of a controller's method: its guards, interceptors, pipes and filters are in it. */
export type RouteHandler = (
  request: ClientRequest,
  response: ServerResponse,
  next?: Function,
) => unknown;

/** A GET route for everything below a prefix. */
export interface PrefixRoute {
  /** With a slash at both ends. */
  prefix: string;
  handler: RouteHandler;
}

const PREFIX_PATTERN = /^(\/[\w-]+\/)\{\*\w+\}$/;

/**
 * Those of the GET routes that take everything below a prefix, such as `/streams/{*path}`: a request for one of them is
 * found without Express' router. Throws where another route could take a request that belongs to one of them: which
 * comes first only Express knows.
 */
export function prefixRoutes(handlers: ReadonlyMap<string, RouteHandler>): PrefixRoute[] {
  const routes = [...handlers].flatMap(([pattern, handler]) => {
    const prefix = PREFIX_PATTERN.exec(pattern)?.[1];
    return prefix === undefined ? [] : [{ prefix, handler, pattern }];
  });
  for (const pattern of handlers.keys()) {
    const taken = routes.find(
      (route) => route.pattern !== pattern && mayMeet(pattern, route.prefix),
    );
    if (taken) {
      throw new Error(
        `the route GET ${pattern} meets GET ${taken.pattern}, which takes everything below its prefix`,
      );
    }
  }
  return routes.map(({ prefix, handler }) => ({ prefix, handler }));
}

/** Whether a pattern can match a path below the prefix. In doubt it can. */
function mayMeet(pattern: string, prefix: string): boolean {
  const literal = /^[^{:*]*/.exec(pattern)?.[0] ?? '';
  if (literal === pattern) return `${pattern}/`.startsWith(prefix);
  const length = Math.min(literal.length, prefix.length);
  return literal.slice(0, length) === prefix.slice(0, length);
}
