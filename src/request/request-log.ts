import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { RequestContext } from './request-context.ts';

/**
 * One line a request, written when it ends. It holds neither query nor headers nor body, so that
 * no credential can come along; the path is cut, so that a long one cannot flood the log.
 */
export class RequestLog {
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** To be called when the response has closed. */
  write(request: IncomingMessage, response: ServerResponse, context: RequestContext): void {
    const completed = response.writableFinished;
    this.logger.info(
      {
        method: request.method,
        route: context.route,
        path: context.path.slice(0, MAX_LOGGED_PATH_LENGTH),
        // 499, as nginx has it: the client went before the answer began.
        status: response.headersSent ? response.statusCode : CLIENT_GONE_STATUS,
        durationMs: Math.round((performance.now() - context.startedAtMs) * 10) / 10,
        upstream: context.upstream,
        requestId: context.requestId,
        code: context.errorCode,
        ...(!completed && { broken: true }),
      },
      'request',
    );
  }
}

const MAX_LOGGED_PATH_LENGTH = 512;
const CLIENT_GONE_STATUS = 499;
