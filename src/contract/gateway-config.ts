import { Inject } from '@nestjs/common';
import { getConfigToken } from '@nestjs/config';
import type { MemoryPlan } from './memory-plan.ts';
import type { Environment } from './environment.ts';
import type { SecretSettings } from './secret-settings.ts';
import type { TraceConfig } from '../platform/tracing/trace-settings.ts';

/** The share of the connections that commands may take, so that they leave room for readers when the runtime is away. */
const COMMANDS_SHARE = 0.25;
/** The open reads that a subject of read tokens may have: this share or number, whichever is more, up to a quarter. */
const SUBJECT_SHARE = 1 / 32;
const SUBJECT_READS = 64;
const MAX_SUBJECT_SHARE = 0.25;

/** The gateway's settings, checked and parsed. Times are milliseconds, sizes bytes. */
export type GatewayConfig = ReturnType<typeof gatewayConfig>;

/** The settings by what they are for. `traces` is undefined if tracing is off. `plan` has the caps that no variable sets. */
export function gatewayConfig(
  env: Environment,
  secrets: SecretSettings,
  traces: TraceConfig | undefined,
  plan: MemoryPlan,
) {
  const maxOpenReads = env.GATEWAY_MAX_OPEN_READS ?? plan.maxOpenReads;
  const maxConnections =
    env.GATEWAY_MAX_CONNECTIONS ?? Math.max(plan.maxConnections, env.GATEWAY_MAX_OPEN_READS ?? 0);
  return {
    host: env.GATEWAY_HOST,
    port: env.GATEWAY_PORT,
    managementPort: env.GATEWAY_MANAGEMENT_PORT,
    /** Whether other copies on this machine may listen on the public port too (`SO_REUSEPORT`). */
    reusePort: env.GATEWAY_REUSE_PORT,
    publicUrl: env.GATEWAY_PUBLIC_URL,
    tenant: env.GATEWAY_TENANT,
    apiKeys: secrets.apiKeys,
    readTokens: {
      secrets: secrets.readTokenSecrets,
      /** File path or http(s) URL of a JWK set. */
      jwks: env.GATEWAY_READ_TOKEN_JWKS,
      maxTtlSeconds: env.GATEWAY_READ_TOKEN_MAX_TTL_SECONDS,
    },
    runtime: {
      ingressUrl: env.GATEWAY_RUNTIME_INGRESS_URL,
      adminUrl: env.GATEWAY_RUNTIME_ADMIN_URL,
      /** Sent with every command and so stored in the runtime's journal. It must open nothing else. */
      ingressToken: secrets.ingressToken,
      adminToken: secrets.adminToken,
      keyTemplate: env.GATEWAY_RUNTIME_KEY_TEMPLATE,
      api: env.GATEWAY_RUNTIME_API,
    },
    history: { url: env.GATEWAY_HISTORY_URL, token: secrets.historyToken },
    sync: { url: env.GATEWAY_SYNC_URL, secret: secrets.syncSecret },
    shapes: { tables: env.GATEWAY_SHAPES_TABLES, tenantColumn: env.GATEWAY_SHAPES_TENANT_COLUMN },
    maxBodyBytes: env.GATEWAY_MAX_BODY_BYTES,
    corsOrigins: env.GATEWAY_CORS_ALLOW_ORIGINS,
    /** Whether readers of the same read share one upstream request. */
    sharedReads: env.GATEWAY_SHARED_READS,
    /** Whether the public port's `/health` fails from the stop signal on. */
    healthFailsOnDrain: env.GATEWAY_HEALTH_FAILS_ON_DRAIN,
    limits: {
      maxConnections,
      /** Commands in progress at once. */
      maxOpenCommands: Math.ceil(maxConnections * COMMANDS_SHARE),
      maxOpenReads,
      /** One caller alone cannot take all open reads. */
      maxOpenReadsPerCredential:
        env.GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL ?? Math.ceil(maxOpenReads / 2),
      /** One user alone cannot either, however many tokens it gets. */
      maxOpenReadsPerSubject:
        env.GATEWAY_MAX_OPEN_READS_PER_SUBJECT ?? defaultReadsPerSubject(maxOpenReads),
      /** The budget of bytes that the gateway holds for others; see `HeldBytes`. */
      maxHeldBytes: plan.maxHeldBytes,
      /** Requests per second of one caller. 0 means no limit. */
      requestsPerSecond: env.GATEWAY_RATE_LIMIT_PER_SECOND,
    },
    timeouts: {
      /** The longest time that a command waits for a runtime that cannot be connected to. */
      outageWaitMs: env.GATEWAY_RUNTIME_OUTAGE_WAIT_MS,
      connectMs: env.GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS,
      responseMs: env.GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS,
      liveMs: env.GATEWAY_LIVE_TIMEOUT_MS,
      clientStallMs: env.GATEWAY_CLIENT_STALL_TIMEOUT_MS,
      upstreamStallMs: env.GATEWAY_UPSTREAM_STALL_TIMEOUT_MS,
      drainMs: env.GATEWAY_DRAIN_TIMEOUT_MS,
    },
    logLevel: env.GATEWAY_LOG_LEVEL,
    /** Whether requests that change something get an audit line. */
    auditLog: env.GATEWAY_AUDIT_LOG,
    /** The file of the audit lines. Without it they are in the log. */
    auditFile: env.GATEWAY_AUDIT_FILE,
    /** The proxies whose word on the client's address the log takes. */
    trustedProxies: env.GATEWAY_TRUSTED_PROXIES,
    traces,
  };
}

function defaultReadsPerSubject(maxOpenReads: number): number {
  const wanted = Math.max(maxOpenReads * SUBJECT_SHARE, SUBJECT_READS);
  return Math.max(1, Math.floor(Math.min(wanted, maxOpenReads * MAX_SUBJECT_SHARE)));
}

export const CONFIG_NAMESPACE = 'gateway';

/** The injection token of the `GatewayConfig`. */
export const CONFIG = getConfigToken(CONFIG_NAMESPACE);

/** Injects the `GatewayConfig`. */
export const InjectConfig = (): ParameterDecorator => Inject(CONFIG);
