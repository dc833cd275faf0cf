import type { ServerResponse } from 'node:http';
import type { ClientRequest } from '../http/client-request.ts';

/** A controller's method as Nest wraps it, with its guards, interceptors, pipes and filters. */
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
 * The GET routes for everything below a prefix, such as `/streams/{*path}`. Requests for them are found without
 * Express' router. Throws if another route could match a request of one of them, because only Express knows which
 * comes first.
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

/** Whether a pattern can match a path below the prefix. In doubt it returns true. */
function mayMeet(pattern: string, prefix: string): boolean {
  const literal = /^[^{:*]*/.exec(pattern)?.[0] ?? '';
  if (literal === pattern) return `${pattern}/`.startsWith(prefix);
  const length = Math.min(literal.length, prefix.length);
  return literal.slice(0, length) === prefix.slice(0, length);
}
