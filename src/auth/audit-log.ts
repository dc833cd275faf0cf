import type { Logger } from 'pino';
import { isReadMethod } from '../platform/http/client-request.ts';
import { loggedSubject } from '../platform/telemetry/request-log.ts';
import type { EndedRequest, RequestObserver } from '../platform/telemetry/request-observer.ts';
import type { RequestRecord } from '../platform/telemetry/request-record.ts';

/**
 * Writes one line for each request that changes something or tried to: commands, writes and deletes of streams,
 * registry calls except reads. The line says who did what, with which result. Only requests with a valid credential
 * have one, because other callers are unknown.
 */
export class AuditLog implements RequestObserver {
  private readonly logger: Logger;
  private readonly entityOf: (record: RequestRecord) => string | undefined;

  /** `entityOf` gives the URL of the entity to which a command goes. */
  constructor(logger: Logger, entityOf: (record: RequestRecord) => string | undefined) {
    this.logger = logger;
    this.entityOf = entityOf;
  }

  ended({ method, status, isWhole, context }: EndedRequest): void {
    const { credential, subject, address, route, requestId, traceId, errorCode } = context;
    if (credential === undefined || isReadMethod(method)) return;
    const entityUrl = this.entityOf(context);
    this.logger.info(
      {
        credential,
        ...(subject === undefined ? {} : { sub: loggedSubject(subject) }),
        ...(address === undefined ? {} : { address }),
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
