import type { RequestListener } from 'node:http';
import type { Request, Response } from 'express';
import { passSteps, type Middleware } from './read-pipeline.ts';
import { requestContext, setAnswerHeaders } from './request-context.ts';

/**
 * Leads a request whose target is no path through the steps that refuse it before Express sees it. Express's router
 * gives up on a target that is no URL (`http://a[`), and then nobody answers: the last handler of Express waits for
 * the end of the body, which a request without one does not tell (`optimizeEmptyRequests`).
 */
export function originFormFirst(
  steps: readonly Middleware[],
  onFailure: (error: unknown, request: Request, response: Response) => void,
  express: RequestListener,
): RequestListener {
  return (incoming, outgoing): void => {
    if (incoming.url?.startsWith('/')) {
      express(incoming, outgoing);
      return;
    }
    // Nothing on this way uses what Express adds to request and response.
    const [request, response] = [incoming as Request, outgoing as Response];
    try {
      if (passSteps(steps, request, response)) express(request, response);
    } catch (error) {
      setAnswerHeaders(response, requestContext(request));
      onFailure(error, request, response);
    }
  };
}
