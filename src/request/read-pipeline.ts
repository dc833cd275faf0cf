import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { requestContext, setAnswerHeaders } from './request-context.ts';
import { isBelow, isReadMethod, type READ_PREFIXES } from './routes.ts';

/** A step of every request's way before its route; calls `next`, answers, or throws. */
export type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/** A route that reads, as its controller declares it. */
export interface ReadRoute {
  prefix: (typeof READ_PREFIXES)[number];
  /** The pattern, for logs and metrics. */
  pattern: string;
  /** Its controller's handler. */
  read(request: Request, response: Response): Promise<void>;
}

export interface ReadPipelineParts {
  /** The same as every other request passes, in the same order. */
  middleware: readonly Middleware[];
  /** What Nest's guards judge by: true, or throws. */
  checks: readonly ((request: Request) => true | Promise<true>)[];
  routes: readonly ReadRoute[];
  /** Answers with a failure. */
  onFailure(error: unknown, request: Request, response: Response): void;
  /** Takes every other request. */
  otherwise: RequestListener;
}

/**
 * The short way of reads, GET and HEAD of `/streams` and `/shapes`: the same middleware, guards, handler
 * and error answers as on the long one, called one after the other. What is left out are the routers of
 * Express and Nest, their contexts and their promises, a quarter of the processor time of a read.
 */
export function readPipeline(parts: ReadPipelineParts): RequestListener {
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const route = routeOf(incoming, parts.routes);
    if (!route) {
      parts.otherwise(incoming, outgoing);
      return;
    }
    // Nothing on this way uses what Express adds to them.
    const request = incoming as Request;
    const response = outgoing as Response;
    const fail = (error: unknown): void => {
      if (!response.headersSent) setAnswerHeaders(response, requestContext(request));
      parts.onFailure(error, request, response);
    };
    try {
      pass(parts, route, request, response)?.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}

/** Resolves when the answer has begun; undefined where a step has answered. */
function pass(
  { middleware, checks }: ReadPipelineParts,
  route: ReadRoute,
  request: Request,
  response: Response,
): Promise<void> | undefined {
  let goesOn = false;
  const next = (): void => {
    goesOn = true;
  };
  for (const step of middleware) {
    goesOn = false;
    step(request, response, next);
    if (!goesOn) return undefined;
  }
  requestContext(request).route = route.pattern;
  const verdict = judge(checks, request);
  if (verdict === true) return route.read(request, response);
  return verdict.then(() => route.read(request, response));
}

/** True when all checks have passed; a promise only where one of them has to wait. */
function judge(
  checks: ReadPipelineParts['checks'],
  request: Request,
  from = 0,
): true | Promise<true> {
  for (let at = from; at < checks.length; at++) {
    const verdict = checks[at]?.(request) ?? true;
    if (verdict !== true) return verdict.then(() => judge(checks, request, at + 1));
  }
  return true;
}

function routeOf(
  { method, url }: IncomingMessage,
  routes: readonly ReadRoute[],
): ReadRoute | undefined {
  if (method === undefined || url === undefined || !isReadMethod(method)) return undefined;
  return routes.find(({ prefix }) => isBelow(url, prefix));
}
