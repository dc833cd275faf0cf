import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { INestApplication, NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express/adapters/express-adapter.js';
import type { Logger } from 'pino';
import { AppModule } from './app.module.ts';
import { within } from './platform/clock/within.ts';
import type { GatewayConfig } from './platform/config/gateway-config.ts';
import { configureApp, loggedPaths } from './configure-app.ts';
import { GatewayParts } from './health/gateway-parts.ts';
import { drain } from './platform/server/drain.ts';
import { configureManagement } from './health/configure-management.ts';
import { GatewayState } from './platform/server/gateway-state.ts';
import { ManagementModule } from './health/management.module.ts';
import { UpstreamProbes } from './health/upstream-probes.ts';
import type { LogCounts } from './platform/log/log-output.ts';
import { NestLogger } from './platform/log/nest-logger.ts';
import { GatewayAdapter } from './platform/server/gateway.adapter.ts';
import { serverOptions } from './platform/server/server-options.ts';
import { createExpress } from './platform/server/create-express.ts';
import { NameResolver } from './platform/names/name-resolver.ts';
import { AuditLog } from './platform/telemetry/audit-log.ts';
import { RequestLog } from './platform/telemetry/request-log.ts';
import { addGauges } from './health/gauges.ts';
import { addMetrics } from './platform/telemetry/metrics.ts';
import { Telemetry } from './platform/telemetry/telemetry.ts';
import { startTracing } from './platform/tracing/tracing.ts';

/** A listening gateway. */
export interface RunningGateway {
  app: INestApplication;
  state: GatewayState;
  /** The actual ports. They differ from the settings if those are 0. */
  port: number;
  managementPort: number | undefined;
  /**
   * Takes the gateway out of service without losing a request, and closes it; see `drain`. Without a lame duck the
   * listener closes at once.
   */
  drain(options?: { hasLameDuck?: boolean }): Promise<void>;
  /** Closes both ports after their connections have ended, and everything that Nest's modules have opened. */
  close(): Promise<void>;
}

export interface GatewayOptions {
  /** The state of the log's output. Without it, all lines are assumed to be written. */
  log?: LogCounts;
  /** Lets Express find the handlers of reads too. Tests use it to show that nothing else changes. */
  expressForReads?: boolean;
}

/**
 * Creates the public and the management application and starts to listen. Rejects with an Error that names the
 * address that is not available.
 */
export async function startGateway(
  config: GatewayConfig,
  logger: Logger,
  { log = ALL_WRITTEN, expressForReads = false }: GatewayOptions = {},
): Promise<RunningGateway> {
  const options = {
    bodyParser: false,
    logger: new NestLogger(logger),
    abortOnError: false,
  } as const;
  const state = new GatewayState();
  const telemetry = new Telemetry();
  telemetry.requests.push(new RequestLog(logger));
  if (config.auditLog) telemetry.requests.push(new AuditLog(logger));
  // Without the management port nobody could request the metrics.
  const requestMetrics = config.managementPort === 0 ? undefined : addMetrics(telemetry);
  const names = new NameResolver(config.timeouts.connectMs);
  const tracing = await startTracing(config, telemetry, logger, names.lookup);
  const adapter = new GatewayAdapter(serverOptions(config.maxBodyBytes), config.reusePort);
  const app = await NestFactory.create(
    AppModule.with({ config, logger, names, telemetry, adapter, state }),
    adapter,
    options,
  );
  configureApp(app, config, telemetry, expressForReads);
  const parts = app.get(GatewayParts);
  const management =
    config.managementPort === 0
      ? undefined
      : await createManagement(app, { config, logger, telemetry, names, log, options });
  requestMetrics?.announce(parts.access.routes());
  const closeAll = async (flushMs: number): Promise<void> => {
    const flushed = app
      .close()
      .then(lastLogLines)
      .then(() => tracing?.shutdown(flushMs));
    await Promise.all([flushed, management && closeManagement(management)]);
    await lastLogLines();
  };
  let closed: Promise<void> | undefined;
  const close = (flushMs = MAX_FLUSH_MS): Promise<void> => (closed ??= closeAll(flushMs));
  try {
    await app.init();
    // The public port listens first, so that the gateway is ready when the management port says so.
    await listen(app, config.host, config.port, 'GATEWAY_PORT', config.reusePort);
    if (management) {
      await listen(management, config.host, config.managementPort, 'GATEWAY_MANAGEMENT_PORT');
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    app,
    state,
    port: portOf(app),
    managementPort: management && portOf(management),
    drain: async ({ hasLameDuck = true } = {}) => {
      const timeoutMs = config.timeouts.drainMs;
      const endsAtMs = performance.now() + timeoutMs;
      const { connections, openRequests } = parts;
      await drain({
        server: adapter.server,
        connections,
        openRequests,
        state,
        logger,
        hasLameDuck,
        timeoutMs,
        hardDeadlineAt: tracing ? 1 - FLUSH_SHARE : 1,
      });
      const leftMs = Math.max(MIN_CLOSE_MS, endsAtMs - performance.now());
      // The end of the process closes what a module cannot close in time.
      await within(leftMs, close(Math.min(leftMs, MAX_FLUSH_MS)));
    },
    close: () => close(),
  };
}

/** What the management port's application is made of. */
interface ManagementSources {
  config: GatewayConfig;
  logger: Logger;
  telemetry: Telemetry;
  names: NameResolver;
  log: LogCounts;
  options: NestApplicationOptions;
}

async function createManagement(
  app: INestApplication,
  { config, logger, telemetry, names, log, options }: ManagementSources,
): Promise<INestApplication> {
  const parts = app.get(GatewayParts);
  const probes = new UpstreamProbes(config, names.lookup);
  const management = await NestFactory.create(
    ManagementModule.with({ parts, probes, telemetry }, logger),
    new ExpressAdapter(createExpress()),
    options,
  );
  configureManagement(management, logger, loggedPaths(app));
  addGauges(telemetry.registry, parts, { probes, log });
  return management;
}

/** Whoever only connects, or stops in the middle of a request, would hold up the end of the process. */
async function closeManagement(management: INestApplication): Promise<void> {
  const closed = management.close();
  await within(MANAGEMENT_CLOSE_MS, closed);
  (management.getHttpServer() as Server).closeAllConnections();
  await closed;
}

async function listen(
  app: INestApplication,
  host: string,
  port: number,
  setting: string,
  reusePort = false,
): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const failures = reusePort ? SHARED_LISTEN_FAILURES : LISTEN_FAILURES;
    const reason = failures[code] ?? code;
    throw new Error(`cannot listen on ${host}, port ${port} (${setting}): ${reason}`, { cause });
  }
}

const LISTEN_FAILURES: Record<string, string | undefined> = {
  EADDRINUSE: 'another process has it',
  EADDRNOTAVAIL: 'this machine has no such address (GATEWAY_HOST)',
  ENOTFOUND: 'this host name is not known (GATEWAY_HOST)',
  EACCES: 'this process may not',
};

/** The kernel lets processes share a port only if each asks for it, and all run as the user that was first (socket(7)). */
const SHARED_LISTEN_FAILURES: typeof LISTEN_FAILURES = {
  ...LISTEN_FAILURES,
  EADDRINUSE: 'another process has it, without GATEWAY_REUSE_PORT=true or as another user',
};

/** For a logger whose output is not the process's own. */
const ALL_WRITTEN: LogCounts = { droppedLines: 0, waitingBytes: 0 };

/** The share of the drain's time that is reserved for the last spans. */
const FLUSH_SHARE = 0.04;
/** How long everything may take to close after a drain that took all of its time. */
const MIN_CLOSE_MS = 100;
/** How long the last answers of the management port may take. */
const MANAGEMENT_CLOSE_MS = 500;
/** An unreachable collector delays the end of the process at most by this. */
const MAX_FLUSH_MS = 3_000;

/**
 * A request is logged when its connection has closed. For a connection just destroyed, Node emits `close` at the
 * end of a turn of its event loop, after that turn's `setImmediate`.
 */
async function lastLogLines(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

function portOf(app: INestApplication): number {
  return (app.getHttpServer().address() as AddressInfo).port;
}
