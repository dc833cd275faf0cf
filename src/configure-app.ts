import type { INestApplication } from '@nestjs/common';
import type { Logger } from 'pino';
import { ApiKeys } from './auth/api-keys.ts';
import type { GatewayConfig } from './contract/gateway-config.ts';
import { isHealthPath, isProxiedPath, isReadPath } from './contract/routes.ts';
import { corsStep } from './platform/cors/cors.step.ts';
import { ClientAddresses } from './platform/http/client-address.ts';
import { LoggedPaths } from './platform/log/logged-paths.ts';
import { LOGGER } from './platform/log/create-logger.ts';
import { admissionStep } from './platform/server/admission.step.ts';
import { Connections } from './platform/server/connections.ts';
import { GatewayAdapter } from './platform/server/gateway.adapter.ts';
import { GatewayState } from './platform/server/gateway-state.ts';
import { AcceptBurst } from './platform/server/accept-burst.ts';
import { headSizeStep } from './platform/server/head-size.step.ts';
import { OpenRequests } from './platform/server/open-requests.ts';
import { closeInOrder } from './platform/server/orderly-close.ts';
import { refuseUnparsed } from './platform/server/parser-refusals.ts';
import { ProblemFilter } from './platform/server/problem.filter.ts';
import { refuseConnect } from './platform/server/refuse-connect.ts';
import { requestContextStep } from './platform/server/request-context.step.ts';
import { requestTargetStep } from './platform/server/request-target.step.ts';
import { RequestWay } from './platform/server/request-way.ts';
import { catchStrayErrors } from './platform/server/stray-errors.ts';
import { unexpectedBodyStep } from './platform/server/unexpected-body.step.ts';
import { durableStreams } from './proxy/upstream/protocols/durable-streams.ts';
import { electric } from './proxy/upstream/protocols/electric.ts';
import type { Telemetry } from './platform/telemetry/telemetry.ts';

/** The response headers that pages may read: the gateway's own, and those of both protocols. */
const EXPOSED_HEADERS = [
  'ETag',
  ...durableStreams.exposedHeaders,
  ...electric.exposedHeaders,
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
];

/** Sets up the steps before the routes, and the listening server. Main and tests use the same code. */
export function configureApp(
  app: INestApplication,
  { corsOrigins, trustedProxies }: GatewayConfig,
  telemetry: Telemetry,
): void {
  const adapter = app.get(GatewayAdapter);
  const connections = app.get(Connections);
  const acceptBurst = new AcceptBurst(() => connections.accepted);
  const filter = app.get(ProblemFilter);
  const { server } = adapter;
  const { requests: observers } = telemetry;
  const addresses = new ClientAddresses(trustedProxies);

  const way = new RequestWay({
    steps: [
      requestContextStep(observers, app.get(OpenRequests), loggedPaths(app), addresses),
      corsStep({ origins: corsOrigins, isOpen: isReadPath, exposedHeaders: EXPOSED_HEADERS }),
      admissionStep(app.get(GatewayState), connections, isHealthPath),
      headSizeStep,
      requestTargetStep(isProxiedPath),
      unexpectedBodyStep,
    ],
    findHandler: (path) => adapter.prefixHandler(path),
    router: adapter.express,
    mustWait: () => acceptBurst.isUnderWay(),
    onFailure: (error, request, response) => filter.answer(error, request, response),
  });
  catchStrayErrors(server, app.get<Logger>(LOGGER));
  closeInOrder(server);
  server.on('request', connections.inTurn(way.take));
  const onExpectation = connections.inTurn(way.takeAtOnce);
  // Without this listener Node would ask for the body before the credential is checked. Other expectations are
  // ignored, as RFC 9110 §10.1.1 allows.
  server.on('checkContinue', onExpectation);
  server.on('checkExpectation', onExpectation);
  server.on('connect', refuseConnect(connections, observers, addresses));
  server.on('clientError', refuseUnparsed(connections, observers));
}

/** Writes paths without the API keys of this deployment. */
export function loggedPaths(app: INestApplication): LoggedPaths {
  return new LoggedPaths(app.get(ApiKeys));
}
