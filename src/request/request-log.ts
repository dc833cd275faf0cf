import type { Logger } from 'pino';
import type { EndedRequest, RequestObserver } from '../telemetry/request-observer.ts';
import { ProbeSampling } from './probe-sampling.ts';

/** What load balancers probe on the public port. */
const PROBE_ROUTE = '/health';
const PROBE_LINE_INTERVAL_MS = 60_000;

/**
 * One line a request, written when it ends. It holds neither query nor headers nor body, so that
 * no credential can come along; the path is cut, so that a long one cannot flood the log. Of probes
 * that go well one a minute is written, and all of them at level debug.
 */
export class RequestLog implements RequestObserver {
  private readonly logger: Logger;
  private readonly probes = new ProbeSampling(PROBE_LINE_INTERVAL_MS);

  constructor(logger: Logger) {
    this.logger = logger;
  }

  ended(request: EndedRequest): void {
    const isSampled = isGoodProbe(request) && !this.logger.isLevelEnabled('debug');
    const leftOut = isSampled ? this.probes.take() : 0;
    if (leftOut !== undefined) this.write(request, leftOut);
  }

  private write(
    { method, status, isWhole, durationMs, context }: EndedRequest,
    leftOut: number,
  ): void {
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
        ...(leftOut > 0 && { leftOut }),
      },
      'request',
    );
  }
}

function isGoodProbe({ status, isWhole, context }: EndedRequest): boolean {
  return context.route === PROBE_ROUTE && status === 200 && isWhole;
}
