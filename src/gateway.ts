import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { INestApplication, NestApplicationOptions, Type } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express/adapters/express-adapter.js';
import type { Logger } from 'pino';
import { AppModule } from './app.module.ts';
import { within } from './platform/clock/within.ts';
import type { GatewayConfig } from './contract/gateway-config.ts';
import { configureApp, loggedPaths } from './configure-app.ts';
import { drain } from './platform/server/drain.ts';
import { configureManagement } from './health/configure-management.ts';
import { GatewayState } from './platform/server/gateway-state.ts';
import { ManagementModule } from './health/management.module.ts';
import { Upstreams } from './proxy/upstream/upstreams.ts';
import { UpstreamProbes } from './health/upstream-probes.ts';
import type { LogCounts } from './platform/log/log-output.ts';
import { NestLogger } from './platform/log/nest-logger.ts';
import { GatewayAdapter } from './platform/server/gateway.adapter.ts';
import { serverOptions } from './platform/server/server-options.ts';
import { createExpress } from './platform/server/create-express.ts';
import { NameResolver } from './platform/names/name-resolver.ts';
import { AuditFile } from './auth/audit-file.ts';
import { AuditLog } from './auth/audit-log.ts';
import { DeclaredAccess } from './auth/declared-access.ts';
import { READ_TOKEN_CREDENTIAL } from './contract/api-key.ts';
import { commandOf } from './commands/command-record.ts';
import { SecretFiles } from './platform/config/secret-files.ts';
import { logMetrics } from './platform/log/log-metrics.ts';
import { Connections } from './platform/server/connections.ts';
import { OpenRequests } from './platform/server/open-requests.ts';
import { UpstreamCalls } from './proxy/upstream/upstream-calls.ts';
import { UpstreamMetrics } from './proxy/upstream/upstream-metrics.ts';
import { RequestLog } from './platform/telemetry/request-log.ts';
import { addMetrics } from './health/metrics.ts';
import { Telemetry } from './platform/telemetry/telemetry.ts';
import { startTracing } from './platform/tracing/tracing.ts';

/** A listening gateway. */
export interface RunningGateway {
  app: INestApplication;
  state: GatewayState;
  /** The address on which the public port listens: `::` stands for all, IPv6 and IPv4. */
  address: string;
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
  const secretFiles = telemetry.show(new SecretFiles());
  telemetry.show({ metrics: logMetrics(log) });
  const requestLog = new RequestLog(logger);
  const auditPath = config.auditLog ? config.auditFile : undefined;
  const auditFile =
    auditPath === undefined ? undefined : telemetry.show(new AuditFile(auditPath, logger));
  telemetry.requests.push(requestLog);
  if (config.auditLog) {
    const auditLog = new AuditLog(
      auditFile?.logger ?? logger,
      (record) => commandOf(record)?.entityUrl,
    );
    telemetry.requests.push(auditLog);
  }
  // Without the management port nobody could request the metrics.
  const requestMetrics = config.managementPort === 0 ? undefined : addMetrics(telemetry);
  const names = new NameResolver(config.timeouts.connectMs);
  const tracing = await startTracing(config.traces, config.tenant, telemetry, logger, names.lookup);
  const adapter = new GatewayAdapter(serverOptions(config.maxBodyBytes), config.reusePort);
  const app = await NestFactory.create(
    AppModule.with({ config, logger, names, telemetry, secretFiles, adapter, state }),
    adapter,
    options,
  );
  configureApp(app, config, telemetry, expressForReads);
  const part = <Part>(type: Type<Part>): Part => app.get(type, { strict: false });
  const calls = part(UpstreamCalls);
  if (requestMetrics) calls.observe(new UpstreamMetrics(telemetry.registry));
  if (tracing) {
    const { CallSpans } = await import('./proxy/upstream/call-spans.ts');
    calls.observe(new CallSpans(tracing.tracer, config));
  }
  const management =
    config.managementPort === 0
      ? undefined
      : await createManagement(app, { logger, telemetry, secretFiles, state, options });
  requestMetrics?.announce(part(DeclaredAccess).routes(), READ_TOKEN_CREDENTIAL);
  const closeAll = async (flushMs: number): Promise<void> => {
    const flushed = app
      .close()
      .then(lastLogLines)
      .then(() => tracing?.shutdown(flushMs));
    await Promise.all([flushed, management && closeManagement(management)]);
    await lastLogLines();
    requestLog.end();
    await auditFile?.end();
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
    address: addressOf(app).address,
    port: addressOf(app).port,
    managementPort: management && addressOf(management).port,
    drain: async ({ hasLameDuck = true } = {}) => {
      const timeoutMs = config.timeouts.drainMs;
      const endsAtMs = performance.now() + timeoutMs;
      await drain({
        server: adapter.server,
        connections: part(Connections),
        openRequests: part(OpenRequests),
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
  logger: Logger;
  telemetry: Telemetry;
  secretFiles: SecretFiles;
  state: GatewayState;
  options: NestApplicationOptions;
}

async function createManagement(
  app: INestApplication,
  { logger, telemetry, secretFiles, state, options }: ManagementSources,
): Promise<INestApplication> {
  const probes = telemetry.show(new UpstreamProbes(app.get(Upstreams, { strict: false })));
  const management = await NestFactory.create(
    ManagementModule.with({ state, secretFiles, probes, telemetry }, logger),
    new ExpressAdapter(createExpress()),
    options,
  );
  configureManagement(management, logger, loggedPaths(app));
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
  host: string | undefined,
  port: number,
  setting: string,
  reusePort = false,
): Promise<void> {
  try {
    await (host === undefined ? app.listen(port) : app.listen(port, host));
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const failures = reusePort ? SHARED_LISTEN_FAILURES : LISTEN_FAILURES;
    const reason = failures[code] ?? code;
    throw new Error(
      `cannot listen on ${host ?? 'any address'}, port ${port} (${setting}): ${reason}`,
      { cause },
    );
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

function addressOf(app: INestApplication): AddressInfo {
  return app.getHttpServer().address() as AddressInfo;
}
