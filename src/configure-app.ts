import type { Server } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import type { GatewayConfig } from './config/gateway-config.ts';
import { configureExpress } from './configure-express.ts';
import { corsMiddleware } from './cors/cors.middleware.ts';
import { readParts } from './configure-reads.ts';
import { Connections } from './server/connections.ts';
import { ProblemFilter } from './errors/problem.filter.ts';
import type { GatewayState } from './health/gateway-state.ts';
import { ConnectionCap } from './limits/connection-cap.ts';
import { HeldBytes } from './limits/held-bytes.ts';
import { MemoryWatch } from './limits/memory-watch.ts';
import { processMemory } from './limits/process-memory.ts';
import { RateLimit } from './limits/rate-limit.ts';
import { RateLimitGuard } from './limits/rate-limit.guard.ts';
import { admissionMiddleware } from './request/admission.middleware.ts';
import { answerHeadersMiddleware } from './request/answer-headers.middleware.ts';
import { OpenRequests } from './request/open-requests.ts';
import { originFormFirst } from './request/origin-form-first.ts';
import { readPipeline } from './request/read-pipeline.ts';
import { refuseConnect } from './server/refuse-connect.ts';
import { requestContextMiddleware } from './request/request-context.middleware.ts';
import { requestTargetMiddleware } from './request/request-target.middleware.ts';
import { unexpectedBodyMiddleware } from './request/unexpected-body.middleware.ts';
import { closeInOrder } from './server/orderly-close.ts';
import { refuseUnparsed } from './server/parser-refusals.ts';
import { StalledClients } from './server/stalled-clients.ts';
import { catchStrayErrors } from './server/stray-errors.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** What the drain and the metrics have to do with. */
export interface ServerParts {
  server: Server;
  connections: Connections;
  openRequests: OpenRequests;
  held: HeldBytes;
  stalledClients: StalledClients;
  memoryWatch: MemoryWatch;
}

/** The way of every request before its route, and the listening server; the same in main and tests. */
export function configureApp(
  app: NestExpressApplication,
  config: GatewayConfig,
  state: GatewayState,
  telemetry: Telemetry,
  logger: Logger,
): ServerParts {
  const express = configureExpress(app);
  const server = app.getHttpServer() as Server;
  const held = app.get(HeldBytes, { strict: false });
  catchStrayErrors(server, logger);
  closeInOrder(server);
  const connections = new Connections(server, held);
  const connectionCap = new ConnectionCap(server, connections, config.limits.maxConnections);
  const stalledClients = new StalledClients(server, connections, config.timeouts.clientStallMs);
  const memoryWatch = new MemoryWatch(processMemory(), held, stalledClients, logger);
  server.once('close', () => {
    stalledClients.stop();
    memoryWatch.stop();
  });
  const openRequests = new OpenRequests();
  const parts = { server, connections, openRequests, held, stalledClients, memoryWatch };

  const first = [
    requestContextMiddleware(telemetry.requests, parts.openRequests),
    corsMiddleware(config.corsOrigins),
  ];
  const last = [
    admissionMiddleware(state, connectionCap),
    requestTargetMiddleware,
    unexpectedBodyMiddleware,
  ];
  // A read's head is written in one go, with those headers in it.
  express.use(...first, answerHeadersMiddleware, ...last);

  const { requestsPerSecond } = config.limits;
  // Behind the access guard, which the module registers: only a credential that holds is counted.
  const rateLimit =
    requestsPerSecond > 0 ? new RateLimitGuard(new RateLimit(requestsPerSecond)) : undefined;
  if (rateLimit) app.useGlobalGuards(rateLimit);

  const steps = [...first, ...last];
  const filter = app.get(ProblemFilter, { strict: false });
  const otherwise = originFormFirst(steps, (...failure) => filter.answer(...failure), express);
  const pipeline = readPipeline(readParts(app, steps, rateLimit, connections, otherwise));
  server.on('request', connections.inTurn(pipeline));
  // With no listener Node would ask for the body before anyone looked at the credential. Any other
  // expectation is let be, as RFC 9110 §10.1.1 allows.
  server.on('checkContinue', connections.inTurn(otherwise));
  server.on('checkExpectation', connections.inTurn(otherwise));
  server.on('connect', refuseConnect(connections, telemetry.requests));
  server.on('clientError', refuseUnparsed(connections, telemetry.requests));
  return parts;
}
