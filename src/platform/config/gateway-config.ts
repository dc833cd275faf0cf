import { Inject } from '@nestjs/common';
import { getConfigToken } from '@nestjs/config';
import type { Environment } from './environment.ts';
import type { ApiKey } from './api-key.ts';
import type { TraceConfig } from './trace-config.ts';

/**
 * A list of secrets: the entries of the variable, and the file that adds to them. A credential for an upstream is a
 * list with one entry, from one of the two.
 */
export interface SecretSource<Entry> {
  inline: Entry[];
  file: string | undefined;
}

/** The gateway's settings, checked and parsed. Times are milliseconds, sizes bytes. */
/** How sends to the runtime are addressed. */
export type RuntimeApi = Environment['GATEWAY_RUNTIME_API'];

export interface GatewayConfig {
  host: string;
  port: number;
  managementPort: number;
  /** Whether other copies on this machine may listen on the public port too (`SO_REUSEPORT`). */
  reusePort: boolean;
  publicUrl: string | undefined;
  tenant: string;
  apiKeys: SecretSource<ApiKey>;
  readTokens: {
    secrets: SecretSource<Buffer>;
    /** File path or http(s) URL of a JWK set. */
    jwks: string | undefined;
    maxTtlSeconds: number;
  };
  runtime: {
    ingressUrl: string;
    adminUrl: string;
    /** Sent with every command and so stored in the runtime's journal. It must open nothing else. */
    ingressToken: SecretSource<string>;
    adminToken: SecretSource<string>;
    keyTemplate: string;
    api: RuntimeApi;
  };
  history: { url: string; token: SecretSource<string> };
  sync: { url: string; secret: SecretSource<string> };
  shapes: { tables: '*' | string[]; tenantColumn: string };
  maxBodyBytes: number;
  corsOrigins: '*' | string[];
  /** Whether readers of the same read share one upstream request. */
  sharedReads: boolean;
  /** Whether the public port's `/health` fails from the stop signal on. */
  healthFailsOnDrain: boolean;
  limits: {
    maxConnections: number;
    /** Commands in progress at once. */
    maxOpenCommands: number;
    maxOpenReads: number;
    maxOpenReadsPerCredential: number;
    /** The budget of bytes that the gateway holds for others; see `HeldBytes`. */
    maxHeldBytes: number;
    /** Requests per second with one credential. 0 means no limit. */
    requestsPerSecond: number;
  };
  timeouts: {
    /** The longest time that a command waits for a runtime that cannot be connected to. */
    outageWaitMs: number;
    connectMs: number;
    responseMs: number;
    liveMs: number;
    clientStallMs: number;
    upstreamStallMs: number;
    drainMs: number;
  };
  logLevel: Environment['GATEWAY_LOG_LEVEL'];
  /** Whether requests that change something get an audit line. */
  auditLog: boolean;
  /** Undefined if tracing is off. */
  traces: TraceConfig | undefined;
}

export const CONFIG_NAMESPACE = 'gateway';

/** The injection token of the `GatewayConfig`. */
export const CONFIG = getConfigToken(CONFIG_NAMESPACE);

/** Injects the `GatewayConfig`. */
export const InjectConfig = (): ParameterDecorator => Inject(CONFIG);
