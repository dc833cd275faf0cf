import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import express, { type Express } from 'express';
// Not the package's index, which loads what handles uploads.
import { ExpressAdapter } from '@nestjs/platform-express/adapters/express-adapter.js';
import { requestContext, setAnswerHeaders } from './request-context.ts';
import { prefixRoutes, type PrefixRoute, type RouteHandler } from './prefix-routes.ts';

/**
 * The longest queue of connections to accept: Linux's maximum. Node's default of 511 makes some of thousands of
 * readers that return at once wait a second for the kernel's next try.
 */
const LISTEN_BACKLOG = 4_096;

/**
 * Nest's Express adapter with a server of the gateway's own. It keeps the handlers that Nest makes of controllers,
 * so that `RequestWay` can call them without Express' router, which is expensive compared with a read. Everything
 * that Nest puts into a handler applies on both ways: guards, interceptors, pipes, filters. A start with something
 * that would apply only in Express is refused.
 */
export class GatewayAdapter extends ExpressAdapter {
  /**
   * The listening server. It exists from the start, because other objects need it. `RequestWay` receives its
   * requests.
   */
  readonly server: Server;
  private readonly reusePort: boolean;
  private readonly getHandlers = new Map<string, RouteHandler>();
  private prefixRoutes: readonly PrefixRoute[] = [];

  /** With `reusePort`, other copies on this machine may listen on the same port, and the kernel spreads connections. */
  constructor(serverOptions: ServerOptions, reusePort = false) {
    super(newExpress());
    this.server = createServer(serverOptions);
    // The size of the head is their limit. Node 22 hides the headers beyond a number, which its parser obeys all the same.
    this.server.maxHeadersCount = 0;
    this.reusePort = reusePort;
  }

  override initHttpServer(): void {
    this.httpServer = this.server;
  }

  /**
   * Nest puts its callback last. Without a host, Node listens on all addresses, IPv6 and IPv4, or on those of IPv4 where
   * the machine has no IPv6.
   */
  override listen(port: string | number, ...rest: unknown[]): Server {
    const callback = rest.pop() as () => void;
    const [host] = rest as [string?];
    const address = {
      port: Number(port),
      backlog: LISTEN_BACKLOG,
      ...(host !== undefined && { host }),
    };
    return this.httpServer.listen({ ...address, reusePort: this.reusePort }, callback);
  }

  /** The handler of the GET route for everything below a prefix of this path, if there is one. */
  prefixHandler(path: string): RouteHandler | undefined {
    return this.prefixRoutes.find(({ prefix }) => path.startsWith(prefix))?.handler;
  }

  /** Finds the handler of any request. */
  get express(): RequestListener {
    return this.getInstance<RequestListener>();
  }

  /** Express notes the pattern of a route. A read needs a note of its own. */
  override get(...route: unknown[]): unknown {
    const [path, handler] = route as [path: string, handler: RouteHandler];
    const noting: RouteHandler = (request, response, next) => {
      requestContext(request).route = path;
      return handler(request, response, next);
    };
    this.getHandlers.set(path, noting);
    this.prefixRoutes = prefixRoutes(this.getHandlers);
    return super.get(path, noting);
  }

  override head(): never {
    throw new Error('declare a GET route in place of one for HEAD, which it takes as well');
  }

  override all(): never {
    throw new Error('declare a route for each method in place of one for all of them');
  }

  override use(): never {
    throw notHere('Middleware');
  }

  override createMiddlewareFactory(): never {
    throw notHere('Middleware');
  }

  override setOnRequestHook(): never {
    throw notHere('A request hook');
  }

  override setOnResponseHook(): never {
    throw notHere('A response hook');
  }

  override setNotFoundHandler(handler: Function): unknown {
    return this.getInstance().use(handler);
  }

  override setErrorHandler(handler: Function): unknown {
    return this.getInstance().use(handler);
  }

  /**
   * Sends a handler's return value as JSON. Express would add a charset, which JSON does not have (RFC 8259 §11).
   */
  override reply(response: ServerResponse, body: unknown, statusCode = response.statusCode): void {
    const text = JSON.stringify(body);
    setAnswerHeaders(response, requestContext(response.req));
    response.statusCode = statusCode;
    response.setHeader('Content-Type', 'application/json');
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.end(text);
  }

  // Nest's handlers call these methods for a response that Express has not prepared.

  override status(response: ServerResponse, statusCode: number): void {
    response.statusCode = statusCode;
  }

  override getHeader(response: ServerResponse, name: string): unknown {
    return response.getHeader(name);
  }

  override setHeader(response: ServerResponse, name: string, value: string): void {
    response.setHeader(name, value);
  }

  override appendHeader(response: ServerResponse, name: string, value: string): void {
    response.appendHeader(name, value);
  }
}

/** Express with the settings of the public port. */
function newExpress(): Express {
  const app = express();
  // "/HEALTH" is another path than "/health".
  app.enable('case sensitive routing');
  app.disable('x-powered-by');
  app.disable('etag');
  // The query is forwarded as bytes, so it is not parsed.
  app.set('query parser', false);
  return app;
}

function notHere(what: string): Error {
  return new Error(
    `${what} of Express is not called for reads: make it a guard, an interceptor, or a step in configure-app.ts`,
  );
}
