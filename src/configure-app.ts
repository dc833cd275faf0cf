import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import type { Logger } from 'pino';
import type { GatewayConfig } from './config/gateway-config.ts';
import { corsStep } from './cors/cors.step.ts';
import { Connections } from './server/connections.ts';
import { ProblemFilter } from './server/problem.filter.ts';
import type { GatewayState } from './server/gateway-state.ts';
import { ConnectionCap } from './server/connection-cap.ts';
import { HeldBytes } from './memory/held-bytes.ts';
import { MemoryWatch } from './memory/memory-watch.ts';
import { processMemory } from './memory/process-memory.ts';
import { RateLimit } from './limits/rate-limit.ts';
import { RateLimitGuard } from './limits/rate-limit.guard.ts';
import { admissionStep } from './server/admission.step.ts';
import { Newcomers } from './server/newcomers.ts';
import { OpenRequests } from './server/open-requests.ts';
import { refuseConnect } from './server/refuse-connect.ts';
import { requestContextStep } from './server/request-context.step.ts';
import { requestTargetStep } from './server/request-target.step.ts';
import { unexpectedBodyStep } from './server/unexpected-body.step.ts';
import type { GatewayAdapter } from './server/gateway.adapter.ts';
import { RequestWay } from './server/request-way.ts';
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
  app: INestApplication,
  adapter: GatewayAdapter,
  config: GatewayConfig,
  state: GatewayState,
  telemetry: Telemetry,
  logger: Logger,
  expressForReads: boolean,
): ServerParts {
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

  const { requestsPerSecond } = config.limits;
  // Behind the access guard, which the module registers: only a credential that holds is counted.
  if (requestsPerSecond > 0) {
    app.useGlobalGuards(new RateLimitGuard(new RateLimit(requestsPerSecond)));
  }

  const newcomers = new Newcomers(() => connections.accepted);
  const filter = app.get(ProblemFilter, { strict: false });
  const way = new RequestWay({
    steps: [
      requestContextStep(telemetry.requests, parts.openRequests),
      corsStep(config.corsOrigins),
      admissionStep(state, connectionCap),
      requestTargetStep,
      unexpectedBodyStep,
    ],
    findHandler: expressForReads ? () => undefined : (path) => adapter.prefixHandler(path),
    router: adapter.express,
    isHeldUp: () => newcomers.areComing(),
    onFailure: (error, request, response) => filter.answer(error, request, response),
  });
  server.on('request', connections.inTurn(way.take));
  // With no listener Node would ask for the body before anyone looked at the credential. Any other
  // expectation is let be, as RFC 9110 §10.1.1 allows.
  server.on('checkContinue', connections.inTurn(way.takeAtOnce));
  server.on('checkExpectation', connections.inTurn(way.takeAtOnce));
  server.on('connect', refuseConnect(connections, telemetry.requests));
  server.on('clientError', refuseUnparsed(connections, telemetry.requests));
  return parts;
}
