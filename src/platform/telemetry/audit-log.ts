import type { Logger } from 'pino';
import { isReadMethod } from '../http/routes.ts';
import { loggedSubject } from './request-log.ts';
import type { EndedRequest, RequestObserver } from './request-observer.ts';

/**
 * Writes one line for each request that changes something or tried to: commands, writes and deletes of streams,
 * registry calls except reads. The line says who did what, with which result. Only requests with a valid credential
 * have one, because other callers are unknown.
 */
export class AuditLog implements RequestObserver {
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  ended({ method, status, isWhole, context }: EndedRequest): void {
    const { credential, subject, route, entityUrl, requestId, traceId, errorCode } = context;
    if (credential === undefined || isReadMethod(method)) return;
    this.logger.info(
      {
        credential,
        ...(subject === undefined ? {} : { sub: loggedSubject(subject) }),
        method,
        route,
        path: context.loggedPath,
        ...(entityUrl === undefined ? {} : { entity: context.paths.of(entityUrl) }),
        status,
        outcome: outcomeOf(status, isWhole),
        ...(errorCode === undefined ? {} : { code: errorCode }),
        requestId,
        ...(traceId === undefined ? {} : { traceId }),
      },
      'audit',
    );
  }
}

/** `unknown`: no response arrived, so the change may have been made. */
function outcomeOf(status: number, isWhole: boolean): 'done' | 'refused' | 'failed' | 'unknown' {
  if (status >= 500) return 'failed';
  if (!isWhole) return 'unknown';
  return status < 400 ? 'done' : 'refused';
}
