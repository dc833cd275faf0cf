import { NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import type { HealthCheckService, HealthIndicatorResult } from '@nestjs/terminus';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { SecretFiles } from '../platform/config/secret-files.ts';
import { ClientAddresses } from '../platform/http/client-address.ts';
import { isReadMethod, type ClientRequest } from '../platform/http/client-request.ts';
import type { LoggedPaths } from '../platform/log/logged-paths.ts';
import type { GatewayState } from '../platform/server/gateway-state.ts';
import { OpenRequests } from '../platform/server/open-requests.ts';
import { ProblemFilter } from '../platform/server/problem.filter.ts';
import { requestContext, setAnswerHeaders } from '../platform/server/request-context.ts';
import { requestContextStep } from '../platform/server/request-context.step.ts';
import { requestTargetStep } from '../platform/server/request-target.step.ts';
import { catchStrayErrors, REQUEST_EVENTS } from '../platform/server/stray-errors.ts';
import { unexpectedBodyStep } from '../platform/server/unexpected-body.step.ts';
import { RequestLog } from '../platform/telemetry/request-log.ts';
import type { Telemetry } from '../platform/telemetry/telemetry.ts';
import type { UpstreamProbes } from './upstream-probes.ts';

/** The objects that the management port reports on, and how it logs. */
export interface ManagementParts {
  health: HealthCheckService;
  state: GatewayState;
  secretFiles: SecretFiles;
  probes: UpstreamProbes;
  telemetry: Telemetry;
  logger: Logger;
  paths: LoggedPaths;
}

/** Makes the response's body, and sets everything else of it. */
type Route = (parts: ManagementParts, response: ServerResponse) => string | Promise<string>;

/** Probes and metrics, only for the cluster. GET also serves HEAD. */
const ROUTES: Record<string, Route | undefined> = {
  '/health/live': (parts, response) => healthBody(parts, response, {}),
  '/health/ready': ready,
  '/metrics': ({ telemetry: { registry } }, response) => {
    response.setHeader('Content-Type', registry.contentType);
    response.setHeader('Cache-Control', 'no-store');
    return registry.metrics();
  },
};

/** The server of the management port. It passes the steps of the public port that apply to it. */
export function managementServer(parts: ManagementParts): Server {
  const { logger, paths } = parts;
  // Probes come every few seconds, so their lines appear only at debug level.
  const observers = logger.isLevelEnabled('debug')
    ? [new RequestLog(logger, { listener: 'management' })]
    : [];
  const filter = new ProblemFilter(logger);
  const steps = [
    requestContextStep(observers, new OpenRequests(), paths, new ClientAddresses()),
    requestTargetStep(() => false),
    unexpectedBodyStep,
  ];
  const answer = async (request: ClientRequest, response: ServerResponse): Promise<void> => {
    for (const step of steps) step(request, response);
    const context = requestContext(request);
    const route = ROUTES[context.path.replace(/(.)\/$/, '$1')];
    if (!route || !isReadMethod(request.method)) throw new NotFoundException();
    setAnswerHeaders(response, context);
    response.end(await route(parts, response));
  };
  const server = createServer();
  for (const event of REQUEST_EVENTS) {
    server.on(event, (request: ClientRequest, response: ServerResponse) => {
      answer(request, response).catch((error: unknown) => filter.answer(error, request, response));
    });
  }
  catchStrayErrors(server, logger);
  return server;
}

/**
 * Ready until the drain begins. It names upstreams and secret files but never fails for them: one upstream's outage must
 * not take every pod out of service, and an invalid secret file leaves the former list in use.
 */
async function ready(parts: ManagementParts, response: ServerResponse): Promise<string> {
  const { state, secretFiles, probes } = parts;
  const named: [string, string][] = Object.entries(await probes.states());
  for (const { setting, isFileGood } of secretFiles.lists) {
    named.push([setting, isFileGood ? 'in use' : 'bad; the list from before is in use']);
  }
  return healthBody(parts, response, {
    gateway: state.isDraining ? { state: 'draining', status: 'down' } : { status: 'up' },
    ...Object.fromEntries(named.map(([name, found]) => [name, { state: found, status: 'up' }])),
  });
}

/** Terminus' body, as on the public port. A failed check is no error of the gateway. */
async function healthBody(
  { health }: ManagementParts,
  response: ServerResponse,
  found: HealthIndicatorResult,
): Promise<string> {
  const checks = Object.entries(found).map(([name, state]) => () => ({ [name]: state }));
  const result: unknown = await health.check(checks).catch((failed: unknown) => {
    if (!(failed instanceof ServiceUnavailableException)) throw failed;
    response.statusCode = failed.getStatus();
    return failed.getResponse();
  });
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Cache-Control', 'no-cache, no-store, must-revalidate');
  return JSON.stringify(result);
}
