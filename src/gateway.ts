import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { INestApplication } from '@nestjs/common';
import { HealthCheckService } from '@nestjs/terminus';
import type { Logger } from 'pino';
import { AppModule } from './app.module.ts';
import { within } from './platform/clock/within.ts';
import type { GatewayConfig } from './contract/gateway-config.ts';
import { configureApp, loggedPaths } from './configure-app.ts';
import { drain } from './platform/server/drain.ts';
import { GatewayState } from './platform/server/gateway-state.ts';
import { managementServer } from './health/management-server.ts';
import { Upstreams } from './proxy/upstream/upstreams.ts';
import { UpstreamProbes } from './health/upstream-probes.ts';
import type { LineOutput } from './platform/log/line-output.ts';
import { NestLogger } from './platform/log/nest-logger.ts';
import { GatewayAdapter } from './platform/server/gateway.adapter.ts';
import { serverOptions } from './platform/server/server-options.ts';
import { NameResolver } from './platform/names/name-resolver.ts';
import { AuditFile } from './auth/audit-file.ts';
import { AuditLog } from './auth/audit-log.ts';
import { DeclaredAccess } from './auth/declared-access.ts';
import { READ_TOKEN_CREDENTIAL } from './contract/api-key.ts';
import { commandOf } from './commands/command-record.ts';
import { SecretFiles } from './platform/config/secret-files.ts';
import { Connections } from './platform/server/connections.ts';
import { OpenRequests } from './platform/server/open-requests.ts';
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

/**
 * Creates the public application and the server of the management port, and starts to listen. Rejects with an Error that names the
 * address that is not available. `log` is the log's output, which exports its state.
 */
export async function startGateway(
  config: GatewayConfig,
  logger: Logger,
  log: LineOutput,
): Promise<RunningGateway> {
  const state = new GatewayState();
  const telemetry = new Telemetry();
  const secretFiles = telemetry.show(new SecretFiles(logger));
  telemetry.show(log);
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
    { bodyParser: false, logger: new NestLogger(logger), abortOnError: false },
  );
  configureApp(app, config, telemetry);
  const upstreams = app.get(Upstreams);
  if (requestMetrics) upstreams.observe(new UpstreamMetrics(telemetry.registry));
  if (tracing) {
    const { CallSpans } = await import('./proxy/upstream/call-spans.ts');
    upstreams.observe(new CallSpans(tracing.tracer));
  }
  const management =
    config.managementPort === 0
      ? undefined
      : managementServer({
          health: app.get(HealthCheckService),
          logger,
          telemetry,
          secretFiles,
          state,
          probes: telemetry.show(new UpstreamProbes(upstreams)),
          paths: loggedPaths(app),
        });
  requestMetrics?.announce(app.get(DeclaredAccess).routes(), READ_TOKEN_CREDENTIAL);
  const closeAll = async (flushMs: number): Promise<void> => {
    management?.close();
    await app.close();
    await lastLogLines();
    await tracing?.shutdown(flushMs);
    // Whoever only connects, or stops in the middle of a request, would hold up the end of the process.
    management?.closeAllConnections();
    await lastLogLines();
    requestLog.end();
    await auditFile?.end();
  };
  let closed: Promise<void> | undefined;
  const close = (flushMs = MAX_FLUSH_MS): Promise<void> => (closed ??= closeAll(flushMs));
  try {
    await app.init();
    // The public port listens first, so that the gateway is ready when the management port says so.
    const { host, port, managementPort, reusePort } = config;
    const listening = host === undefined ? app.listen(port) : app.listen(port, host);
    await explained(listening, config, `${port} (GATEWAY_PORT)`, reusePort);
    if (management) {
      const managing = once(management.listen({ port: managementPort, host }), 'listening');
      await explained(managing, config, `${managementPort} (GATEWAY_MANAGEMENT_PORT)`);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    app,
    state,
    address: addressOf(adapter.server).address,
    port: addressOf(adapter.server).port,
    managementPort: management && addressOf(management).port,
    drain: async ({ hasLameDuck = true } = {}) => {
      const timeoutMs = config.timeouts.drainMs;
      const endsAtMs = performance.now() + timeoutMs;
      await drain({
        server: adapter.server,
        connections: app.get(Connections),
        openRequests: app.get(OpenRequests),
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

/** Rejects with a plain sentence if a port cannot be listened on. */
async function explained(
  listening: Promise<unknown>,
  { host = 'any address' }: GatewayConfig,
  port: string,
  reusePort = false,
): Promise<void> {
  try {
    await listening;
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const failures = reusePort ? SHARED_LISTEN_FAILURES : LISTEN_FAILURES;
    const reason = failures[code] ?? code;
    throw new Error(`cannot listen on ${host}, port ${port}: ${reason}`, { cause });
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

/** The share of the drain's time that is reserved for the last spans. */
const FLUSH_SHARE = 0.04;
/** How long everything may take to close after a drain that took all of its time. */
const MIN_CLOSE_MS = 100;
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

function addressOf(server: Server): AddressInfo {
  return server.address() as AddressInfo;
}
