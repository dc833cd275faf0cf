import type { NextFunction, Request, Response } from 'express';
import type { OpenRequests } from './open-requests.ts';
import type { RequestLog } from './request-log.ts';
import { setRequestContext, type RequestContext } from './request-context.ts';
import { requestIdFrom } from './request-id.ts';

/** The first step of every request: its id, its raw target, and its one log line when it ends. */
export function requestContextMiddleware(log: RequestLog, openRequests: OpenRequests) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const target = request.url;
    const queryAt = target.indexOf('?');
    const context: RequestContext = {
      requestId: requestIdFrom(request.headers['x-request-id']),
      path: queryAt === -1 ? target : target.slice(0, queryAt),
      query: queryAt === -1 ? '' : target.slice(queryAt),
      startedAtMs: performance.now(),
    };
    setRequestContext(request, context);
    response.setHeader('X-Request-Id', context.requestId);
    openRequests.add(context);
    response.once('close', () => {
      openRequests.delete(context);
      log.write(request, response, context);
    });
    next();
  };
}
