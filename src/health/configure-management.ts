import type { INestApplication } from '@nestjs/common';
import type { Server, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { ClientRequest } from '../platform/http/client-request.ts';
import type { LoggedPaths } from '../platform/log/logged-paths.ts';
import { OpenRequests } from '../platform/server/open-requests.ts';
import { requestContext, setAnswerHeaders } from '../platform/server/request-context.ts';
import { requestContextStep } from '../platform/server/request-context.step.ts';
import { requestTargetStep } from '../platform/server/request-target.step.ts';
import { ProblemFilter } from '../platform/server/problem.filter.ts';
import { catchStrayErrors } from '../platform/server/stray-errors.ts';
import { unexpectedBodyStep } from '../platform/server/unexpected-body.step.ts';
import { RequestLog } from '../platform/telemetry/request-log.ts';

/** The steps of every request on the management port before its route. */
export function configureManagement(
  app: INestApplication,
  logger: Logger,
  paths: LoggedPaths,
): void {
  // Probes come every few seconds, so their lines appear only at debug level.
  const observers = logger.isLevelEnabled('debug')
    ? [new RequestLog(logger, { listener: 'management' })]
    : [];
  const openContext = requestContextStep(observers, new OpenRequests(), paths);
  const filter = new ProblemFilter(logger);
  app.use((request: ClientRequest, response: ServerResponse, next: () => void) => {
    openContext(request, response);
    setAnswerHeaders(response, requestContext(request));
    try {
      requestTargetStep(request);
      unexpectedBodyStep(request);
    } catch (error) {
      filter.answer(error, request, response);
      return;
    }
    next();
  });
  catchStrayErrors(app.getHttpServer() as Server, logger);
}
