import type { INestApplication, Type } from '@nestjs/common';
import { ApiKeys } from './auth/api-keys.ts';
import type { GatewayConfig } from './config/gateway-config.ts';
import { corsStep } from './cors/cors.step.ts';
import { LoggedPaths } from './log/logged-paths.ts';
import { LOGGER } from './log/log.module.ts';
import { admissionStep } from './server/admission.step.ts';
import { ConnectionCap } from './server/connection-cap.ts';
import { Connections } from './server/connections.ts';
import { GatewayAdapter } from './server/gateway.adapter.ts';
import { GatewayState } from './server/gateway-state.ts';
import { AcceptBurst } from './server/accept-burst.ts';
import { refuseHiddenHeaders } from './server/hidden-headers.ts';
import { OpenRequests } from './server/open-requests.ts';
import { closeInOrder } from './server/orderly-close.ts';
import { refuseUnparsed } from './server/parser-refusals.ts';
import { ProblemFilter } from './server/problem.filter.ts';
import { refuseConnect } from './server/refuse-connect.ts';
import { requestContextStep } from './server/request-context.step.ts';
import { requestTargetStep } from './server/request-target.step.ts';
import { RequestWay } from './server/request-way.ts';
import { catchStrayErrors } from './server/stray-errors.ts';
import { unexpectedBodyStep } from './server/unexpected-body.step.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** Sets up the steps before the routes, and the listening server. Main and tests use the same code. */
export function configureApp(
  app: INestApplication,
  { corsOrigins }: GatewayConfig,
  telemetry: Telemetry,
  expressForReads: boolean,
): void {
  const part = <Part>(type: Type<Part>): Part => app.get(type, { strict: false });
  const adapter = part(GatewayAdapter);
  const connections = part(Connections);
  const acceptBurst = part(AcceptBurst);
  const filter = part(ProblemFilter);
  const { server } = adapter;
  const { requests: observers } = telemetry;

  const way = new RequestWay({
    steps: [
      requestContextStep(observers, part(OpenRequests), loggedPaths(app)),
      corsStep(corsOrigins),
      admissionStep(part(GatewayState), part(ConnectionCap)),
      requestTargetStep,
      unexpectedBodyStep,
    ],
    findHandler: expressForReads ? () => undefined : (path) => adapter.prefixHandler(path),
    router: adapter.express,
    mustWait: () => acceptBurst.isUnderWay(),
    onFailure: (error, request, response) => filter.answer(error, request, response),
  });
  catchStrayErrors(server, app.get(LOGGER, { strict: false }));
  closeInOrder(server);
  const onRequest = refuseHiddenHeaders(server, connections.inTurn(way.take));
  const onExpectation = refuseHiddenHeaders(server, connections.inTurn(way.takeAtOnce));
  server.on('request', onRequest);
  // Without this listener Node would ask for the body before the credential is checked. Other expectations are
  // ignored, as RFC 9110 §10.1.1 allows.
  server.on('checkContinue', onExpectation);
  server.on('checkExpectation', onExpectation);
  server.on('connect', refuseConnect(connections, observers));
  server.on('clientError', refuseUnparsed(connections, observers));
}

/** Writes paths without the API keys of this deployment. */
export function loggedPaths(app: INestApplication): LoggedPaths {
  const apiKeys = app.get(ApiKeys, { strict: false });
  return new LoggedPaths({
    canBeCredential: (text) => apiKeys.canBeKey(text),
    isCredential: (text) => apiKeys.has(text),
    version: () => apiKeys.version,
  });
}
