import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { TurnQueue } from '../collections/turn-queue.ts';
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
  /** Asked once a turn while there are reads: whether they are to wait for another one. */
  isHeldUp: () => boolean;
  /** Answers with a failure. */
  onFailure(error: unknown, request: Request, response: Response): void;
  /** Takes every other request. */
  otherwise: RequestListener;
}

/** A read that has come in. */
interface Arrival {
  route: ReadRoute;
  request: Request;
  response: Response;
  /** As `RequestContext.startedAtMs`. */
  atMs: number;
}

/**
 * The short way of reads, GET and HEAD of `/streams` and `/shapes`: the same middleware, guards, handler
 * and error answers as on the long one, called one after the other. What is left out are the routers of
 * Express and Nest, their contexts and their promises, a quarter of the processor time of a read. And those
 * that have come in one turn of the event loop go it together.
 */
export function readPipeline(parts: ReadPipelineParts): RequestListener {
  const arrivals = new TurnQueue<Arrival>((arrival) => {
    const { request, response } = arrival;
    // It has gone since, and nothing would tell any more.
    if (response.destroyed) return;
    const fail = (error: unknown): void => {
      if (!response.headersSent) setAnswerHeaders(response, requestContext(request));
      parts.onFailure(error, request, response);
    };
    try {
      pass(parts, arrival)?.catch(fail);
    } catch (error) {
      fail(error);
    }
  }, parts.isHeldUp);
  return (request: IncomingMessage, response: ServerResponse): void => {
    const route = routeOf(request, parts.routes);
    if (!route) {
      parts.otherwise(request, response);
      return;
    }
    // Nothing on this way uses what Express adds to request and response.
    arrivals.add({
      route,
      request: request as Request,
      response: response as Response,
      atMs: performance.now(),
    });
  };
}

/** Resolves when the answer has begun; undefined where a step has answered. */
function pass(
  { middleware, checks }: ReadPipelineParts,
  { route, request, response, atMs }: Arrival,
): Promise<void> | undefined {
  if (!passSteps(middleware, request, response)) return undefined;
  const context = requestContext(request);
  context.route = route.pattern;
  context.startedAtMs = atMs;
  const verdict = judge(checks, request);
  if (verdict === true) return route.read(request, response);
  return verdict.then(() => route.read(request, response));
}

/** Whether the request goes on behind the last step: a step that does not call `next` has answered. */
export function passSteps(
  steps: readonly Middleware[],
  request: Request,
  response: Response,
): boolean {
  let goesOn = true;
  const next = (): void => {
    goesOn = true;
  };
  for (const step of steps) {
    goesOn = false;
    step(request, response, next);
    if (!goesOn) return false;
  }
  return goesOn;
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
