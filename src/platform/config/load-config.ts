import { getHeapStatistics } from 'node:v8';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { memoryPlan, type MemoryPlan } from '../memory/memory-plan.ts';
import { openFileLimit } from '../memory/open-files.ts';
import { processMemory } from '../memory/process-memory.ts';
import { ConfigError } from './config-error.ts';
import { Environment } from './environment.ts';
import type { GatewayConfig } from './gateway-config.ts';
import type { ReadFile, Variables } from './otel-variables.ts';
import { parseApiKeys, parseReadTokenSecrets } from './secret-lists.ts';
import { credentialSource, listSource, type CredentialVariable } from './secret-source.ts';
import { serviceUrlHint } from './service-links.ts';
import { readSmallFileSync } from './small-file.ts';
import { traceConfig } from './trace-config.ts';

/** The share of the connections that commands may take, so that they leave room for readers when the runtime is away. */
const COMMANDS_SHARE = 0.25;

/** The one variable for which an empty value means something: no tenant fence. */
const MAY_BE_EMPTY = new Set(['GATEWAY_SHAPES_TENANT_COLUMN']);

/**
 * Reads the settings from environment variables and from the files that they name. Throws one `ConfigError` that
 * lists every wrong setting and its valid form.
 */
export function loadConfig(
  variables: Variables,
  readFile: ReadFile = readSmallFileSync,
  plan: MemoryPlan = memoryPlan(
    processMemory().limitBytes,
    getHeapStatistics().heap_size_limit,
    openFileLimit(),
  ),
  platform: NodeJS.Platform = process.platform,
): GatewayConfig {
  const env = plainToInstance(Environment, gatewayVariables(variables), {
    exposeDefaultValues: true,
  });
  const problems = validateSync(env).map(
    ({ property, constraints = {} }) =>
      `${property} ${[...new Set(Object.values(constraints))].join(', ')}` +
      serviceUrlHint(property, variables[property]),
  );
  const apiKeys = listSource(env, 'GATEWAY_API_KEYS', parseApiKeys, readFile, problems);
  if (apiKeys.count === 0 && !problems.some((problem) => problem.startsWith('GATEWAY_API_KEYS'))) {
    problems.unshift(
      'GATEWAY_API_KEYS is required: one or more comma-separated keys of at least 16 characters, ' +
        'or sha256:<64 hex digits> of one; or GATEWAY_API_KEYS_FILE, a file with one entry a line',
    );
  }
  const secrets = listSource(
    env,
    'GATEWAY_READ_TOKEN_SECRETS',
    parseReadTokenSecrets,
    readFile,
    problems,
  );
  const credential = (name: CredentialVariable) => credentialSource(env, name, readFile, problems);
  const credentials = {
    ingressToken: credential('GATEWAY_RUNTIME_INGRESS_TOKEN'),
    adminToken: credential('GATEWAY_RUNTIME_ADMIN_TOKEN'),
    historyToken: credential('GATEWAY_HISTORY_TOKEN'),
    syncSecret: credential('GATEWAY_SYNC_SECRET'),
  };
  checkPortsDiffer(env, problems);
  checkReusePort(env, platform, problems);
  const traces = traceConfig(variables, readFile, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const maxOpenReads = env.GATEWAY_MAX_OPEN_READS ?? plan.maxOpenReads;
  const maxConnections =
    env.GATEWAY_MAX_CONNECTIONS ?? Math.max(plan.maxConnections, env.GATEWAY_MAX_OPEN_READS ?? 0);

  return {
    host: env.GATEWAY_HOST,
    port: env.GATEWAY_PORT,
    managementPort: env.GATEWAY_MANAGEMENT_PORT,
    reusePort: env.GATEWAY_REUSE_PORT,
    publicUrl: env.GATEWAY_PUBLIC_URL,
    tenant: env.GATEWAY_TENANT,
    apiKeys: apiKeys.source,
    readTokens: {
      secrets: secrets.source,
      jwks: env.GATEWAY_READ_TOKEN_JWKS,
      maxTtlSeconds: env.GATEWAY_READ_TOKEN_MAX_TTL_SECONDS,
    },
    runtime: {
      ingressUrl: env.GATEWAY_RUNTIME_INGRESS_URL,
      adminUrl: env.GATEWAY_RUNTIME_ADMIN_URL,
      ingressToken: credentials.ingressToken,
      adminToken: credentials.adminToken,
      keyTemplate: env.GATEWAY_RUNTIME_KEY_TEMPLATE,
      api: env.GATEWAY_RUNTIME_API,
    },
    history: {
      url: env.GATEWAY_HISTORY_URL,
      token: credentials.historyToken,
    },
    sync: { url: env.GATEWAY_SYNC_URL, secret: credentials.syncSecret },
    shapes: { tables: env.GATEWAY_SHAPES_TABLES, tenantColumn: env.GATEWAY_SHAPES_TENANT_COLUMN },
    maxBodyBytes: env.GATEWAY_MAX_BODY_BYTES,
    corsOrigins: env.GATEWAY_CORS_ALLOW_ORIGINS,
    sharedReads: env.GATEWAY_SHARED_READS,
    healthFailsOnDrain: env.GATEWAY_HEALTH_FAILS_ON_DRAIN,
    limits: {
      maxConnections,
      maxOpenCommands: Math.ceil(maxConnections * COMMANDS_SHARE),
      maxOpenReads,
      // One caller alone cannot take all open reads.
      maxOpenReadsPerCredential:
        env.GATEWAY_MAX_OPEN_READS_PER_CREDENTIAL ?? Math.ceil(maxOpenReads / 2),
      maxHeldBytes: plan.maxHeldBytes,
      requestsPerSecond: env.GATEWAY_RATE_LIMIT_PER_SECOND,
    },
    timeouts: {
      outageWaitMs: env.GATEWAY_RUNTIME_OUTAGE_WAIT_MS,
      connectMs: env.GATEWAY_UPSTREAM_CONNECT_TIMEOUT_MS,
      responseMs: env.GATEWAY_UPSTREAM_RESPONSE_TIMEOUT_MS,
      liveMs: env.GATEWAY_LIVE_TIMEOUT_MS,
      clientStallMs: env.GATEWAY_CLIENT_STALL_TIMEOUT_MS,
      upstreamStallMs: env.GATEWAY_UPSTREAM_STALL_TIMEOUT_MS,
      drainMs: env.GATEWAY_DRAIN_TIMEOUT_MS,
    },
    logLevel: env.GATEWAY_LOG_LEVEL,
    auditLog: env.GATEWAY_AUDIT_LOG,
    traces,
  };
}

function gatewayVariables(variables: Variables): Variables {
  const entries = Object.entries(variables).filter(
    ([name, value]) =>
      name.startsWith('GATEWAY_') &&
      value !== undefined &&
      (value !== '' || MAY_BE_EMPTY.has(name)),
  );
  return Object.fromEntries(entries);
}

/** 0 means any free port, or no management port. */
function checkPortsDiffer(env: Environment, problems: string[]): void {
  const isBad = problems.some((problem) => problem.startsWith('GATEWAY_PORT '));
  if (!isBad && env.GATEWAY_PORT !== 0 && env.GATEWAY_PORT === env.GATEWAY_MANAGEMENT_PORT) {
    problems.push('GATEWAY_MANAGEMENT_PORT must be another port than GATEWAY_PORT');
  }
}

/** Elsewhere Node refuses to share a port, or the kernel does not spread the connections over the copies. */
function checkReusePort(env: Environment, platform: NodeJS.Platform, problems: string[]): void {
  if (env.GATEWAY_REUSE_PORT && platform !== 'linux') {
    problems.push('GATEWAY_REUSE_PORT must be false on this system: only Linux can share a port');
  }
}
