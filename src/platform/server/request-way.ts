import type { RequestListener, ServerResponse } from 'node:http';
import { TurnQueue } from '../collections/turn-queue.ts';
import { isReadMethod, type ClientRequest } from '../http/client-request.ts';
import { requestContext } from './request-context.ts';
import type { RouteHandler } from './prefix-routes.ts';

/**
 * A step that every request passes before its route. It returns true to continue and false if it has answered, or
 * throws.
 */
export type Step = (request: ClientRequest, response: ServerResponse) => boolean;

export interface RequestWayParts {
  /** The steps in their order. The first one creates the context of the request. */
  steps: readonly Step[];
  /** Finds the handler of a read by the path. */
  findHandler(path: string): RouteHandler | undefined;
  /** Finds the handler of any other request. */
  router: RequestListener;
  /** Called once per turn while there are reads. Returns whether they must wait for another turn. */
  mustWait(): boolean;
  /** Answers with the error that a step has thrown or a handler has passed on. */
  onFailure(error: unknown, request: ClientRequest, response: ServerResponse): void;
}

/** A read that has arrived. */
interface Arrival {
  handler: RouteHandler;
  request: ClientRequest;
  response: ServerResponse;
  /** The time of its arrival, as `RequestContext.startedAtMs`. */
  atMs: number;
}

/**
 * The way of every request: first the steps, then the handler that Nest made of its route. Handlers of reads are
 * found here by the prefix of the path, and all reads of one turn of the event loop run together. Express' router
 * finds every other handler.
 */
export class RequestWay {
  private readonly parts: RequestWayParts;
  private readonly arrivals: TurnQueue<Arrival>;

  constructor(parts: RequestWayParts) {
    this.parts = parts;
    this.arrivals = new TurnQueue(
      (arrival) => this.goOn(arrival),
      undefined,
      () => parts.mustWait(),
    );
  }

  /**
   * Receives a request. A read runs at the end of this turn of the event loop, together with the others of the
   * turn.
   */
  readonly take = (request: ClientRequest, response: ServerResponse): void => {
    const { method, url } = request;
    const handler = isReadMethod(method) ? this.parts.findHandler(url) : undefined;
    if (handler) this.arrivals.add({ handler, request, response, atMs: performance.now() });
    else this.takeAtOnce(request, response);
  };

  /** Receives a request, runs it at once, and lets Express find its route. */
  readonly takeAtOnce = (request: ClientRequest, response: ServerResponse): void => {
    if (this.passes(request, response)) this.parts.router(request, response);
  };

  private goOn({ handler, request, response, atMs }: Arrival): void {
    // The client has disconnected since, and no later event would tell.
    if (response.destroyed || !this.passes(request, response)) return;
    requestContext(request).startedAtMs = atMs;
    handler(request, response, (error?: unknown) => {
      if (error === undefined) this.parts.router(request, response);
      else this.parts.onFailure(error, request, response);
    });
  }

  private passes(request: ClientRequest, response: ServerResponse): boolean {
    try {
      for (const step of this.parts.steps) if (!step(request, response)) return false;
      return true;
    } catch (error) {
      this.parts.onFailure(error, request, response);
      return false;
    }
  }
}
