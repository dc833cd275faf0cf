import type { INestApplication } from '@nestjs/common';
import type { RequestListener, Server } from 'node:http';
import type { Logger } from 'pino';
import { ClientAddresses } from '../platform/http/client-address.ts';
import type { LoggedPaths } from '../platform/log/logged-paths.ts';
import { OpenRequests } from '../platform/server/open-requests.ts';
import { ProblemFilter } from '../platform/server/problem.filter.ts';
import { requestContext, setAnswerHeaders } from '../platform/server/request-context.ts';
import { requestContextStep } from '../platform/server/request-context.step.ts';
import { requestTargetStep } from '../platform/server/request-target.step.ts';
import { RequestWay, type Step } from '../platform/server/request-way.ts';
import { catchStrayErrors, REQUEST_EVENTS } from '../platform/server/stray-errors.ts';
import { unexpectedBodyStep } from '../platform/server/unexpected-body.step.ts';
import { RequestLog } from '../platform/telemetry/request-log.ts';

/** The steps of every request on the management port before its route: those of the public port that apply to it. */
export function configureManagement(
  app: INestApplication,
  logger: Logger,
  paths: LoggedPaths,
): void {
  // Probes come every few seconds, so their lines appear only at debug level.
  const observers = logger.isLevelEnabled('debug')
    ? [new RequestLog(logger, { listener: 'management' })]
    : [];
  const filter = new ProblemFilter(logger);
  const way = new RequestWay({
    steps: [
      requestContextStep(observers, new OpenRequests(), paths, new ClientAddresses([])),
      answerHeadersStep,
      requestTargetStep(() => false),
      unexpectedBodyStep,
    ],
    findHandler: () => undefined,
    router: app.getHttpAdapter().getInstance() as RequestListener,
    mustWait: () => false,
    onFailure: (error, request, response) => filter.answer(error, request, response),
  });
  const server = app.getHttpServer() as Server;
  // Express' own listener. It would answer a target that it cannot parse before any step.
  server.removeAllListeners('request');
  for (const event of REQUEST_EVENTS) server.on(event, way.takeAtOnce);
  catchStrayErrors(server, logger);
}

const answerHeadersStep: Step = (request, response) => {
  setAnswerHeaders(response, requestContext(request));
  return true;
};
