import type { LoggedPaths } from '../log/logged-paths.ts';
import type { RequestObserver } from '../telemetry/request-observer.ts';
import type { Step } from './request-way.ts';
import type { OpenRequests } from './open-requests.ts';
import { traceIdOf } from '../tracing/traceparent.ts';
import type { ClientAddresses } from '../http/client-address.ts';
import { CLIENT_GONE_STATUS } from '../http/client-gone.ts';
import type { ClientRequest } from '../http/client-request.ts';
import { RequestContext, setRequestContext } from './request-context.ts';
import { requestIdFrom } from '../http/request-id.ts';

/** Express sets the route that it has found. */
type Routed = ClientRequest & { route?: { path: string } };

/**
 * The first step of every request, which sets its id and its raw target. It is also the last one: it reports the
 * end of the request to its observers, such as the log.
 */
export function requestContextStep(
  observers: readonly RequestObserver[],
  openRequests: OpenRequests,
  paths: LoggedPaths,
  addresses: ClientAddresses,
): Step {
  return (request, response) => {
    const target = request.url;
    const queryAt = target.indexOf('?');
    const requestId = requestIdFrom(request.headers['x-request-id']);
    const path = queryAt === -1 ? target : target.slice(0, queryAt);
    const query = queryAt === -1 ? '' : target.slice(queryAt);
    const context = new RequestContext(requestId, path, query, addresses.of(request));
    context.paths = paths;
    context.traceId = traceIdOf(request.headers.traceparent);
    setRequestContext(request, context);
    openRequests.add(context);
    for (const observer of observers) observer.began?.(request, context);
    response.on('close', () => {
      openRequests.delete(context);
      context.route ??= (request as Routed).route?.path;
      const ended = {
        method: request.method,
        status: response.headersSent
          ? response.statusCode
          : (context.refusedStatus ?? CLIENT_GONE_STATUS),
        isWhole: response.writableFinished,
        durationMs: performance.now() - context.startedAtMs,
        context,
      };
      for (const observer of observers) observer.ended(ended);
      context.openRead?.onClosed();
    });
    return true;
  };
}
