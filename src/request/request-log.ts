import type { Logger } from 'pino';
import type { EndedRequest, RequestObserver } from '../telemetry/request-observer.ts';

/**
 * One line a request, written when it ends. It holds neither query nor headers nor body, so that
 * no credential can come along; the path is cut, so that a long one cannot flood the log.
 */
export class RequestLog implements RequestObserver {
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  ended({ method, status, isWhole, durationMs, context }: EndedRequest): void {
    this.logger.info(
      {
        method,
        route: context.route,
        path: context.path,
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        upstream: context.upstream,
        requestId: context.requestId,
        traceId: context.traceId,
        code: context.errorCode,
        reason: context.errorReason,
        ...(!isWhole && { broken: true }),
      },
      'request',
    );
  }
}
