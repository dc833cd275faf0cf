import type { INestApplication } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { ClientRequest } from '../platform/http/client-request.ts';
import type { LoggedPaths } from '../platform/log/logged-paths.ts';
import { OpenRequests } from '../platform/server/open-requests.ts';
import { requestContext, setAnswerHeaders } from '../platform/server/request-context.ts';
import { requestContextStep } from '../platform/server/request-context.step.ts';
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
  app.use((request: ClientRequest, response: ServerResponse, next: () => void) => {
    openContext(request, response);
    setAnswerHeaders(response, requestContext(request));
    next();
  });
}
