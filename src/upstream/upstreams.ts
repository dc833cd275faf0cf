import http from 'node:http';
import https from 'node:https';
import type { OnModuleDestroy } from '@nestjs/common';
import type { Environment } from '../config/environment.ts';
import type { GatewayConfig } from '../config/gateway-config.ts';
import type { ProxiedPrefix } from '../request/routes.ts';

/** A server behind the proxied routes. Its origin and base path come from the settings alone. */
export interface Upstream {
  name: 'history' | 'sync' | 'runtime-admin';
  /** The public prefix that stands for the upstream's base URL. */
  prefix: ProxiedPrefix;
  base: URL;
  /** The base URL's path without a trailing slash, empty where it has none. */
  basePath: string;
  /** The upstream's own bearer credential. */
  token: string | undefined;
  /** The setting that its credential comes from, for the log. */
  credentialSetting: keyof Environment;
  agent: http.Agent;
  /** How long to wait for the response headers of a GET or HEAD, in milliseconds. */
  readTimeoutMs: number;
  /** The same of any other request. */
  writeTimeoutMs: number;
  /** Whether browsers and caches may stand in front of its reads. */
  isRead: boolean;
}

/** The upstreams of the proxied routes, each with its own pool of connections that are kept open. */
export class Upstreams implements OnModuleDestroy {
  readonly history: Upstream;
  readonly sync: Upstream;
  readonly runtimeAdmin: Upstream;

  constructor({ history, sync, runtime, timeouts }: GatewayConfig) {
    const read = {
      readTimeoutMs: timeouts.liveMs,
      writeTimeoutMs: timeouts.responseMs,
      isRead: true,
    };
    const call = {
      readTimeoutMs: timeouts.responseMs,
      writeTimeoutMs: timeouts.responseMs,
      isRead: false,
    };
    this.history = {
      name: 'history',
      prefix: '/streams',
      token: history.token,
      credentialSetting: 'GATEWAY_HISTORY_TOKEN',
      ...location(history.url),
      ...read,
    };
    this.sync = {
      name: 'sync',
      prefix: '/shapes',
      token: undefined,
      credentialSetting: 'GATEWAY_SYNC_SECRET',
      ...location(sync.url),
      ...read,
    };
    this.runtimeAdmin = {
      name: 'runtime-admin',
      prefix: '/registry',
      token: runtime.adminToken,
      credentialSetting: 'GATEWAY_RUNTIME_ADMIN_TOKEN',
      ...location(runtime.adminUrl),
      ...call,
      agent: singleUseAgent(runtime.adminUrl),
    };
  }

  onModuleDestroy(): void {
    for (const { agent } of [this.history, this.sync, this.runtimeAdmin]) agent.destroy();
  }
}

function location(url: string): Pick<Upstream, 'base' | 'basePath' | 'agent'> {
  const base = new URL(url);
  const options: http.AgentOptions = {
    keepAlive: true,
    maxFreeSockets: MAX_IDLE_CONNECTIONS,
    timeout: IDLE_TIMEOUT_MS,
  };
  return {
    base,
    basePath: base.pathname.replace(/\/$/, ''),
    agent: base.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options),
  };
}

/**
 * A connection for each request. Restate answers a request that it refuses before it has read its body,
 * and then closes the connection without having said so; the next one would meet that, and one with a
 * body cannot be sent again. Registrations are rare enough.
 */
function singleUseAgent(url: string): http.Agent {
  const { protocol } = new URL(url);
  return protocol === 'https:' ? new https.Agent() : new http.Agent();
}

const MAX_IDLE_CONNECTIONS = 256;
/**
 * After this an idle connection is closed, or a second before the upstream's own `Keep-Alive: timeout`
 * where that is sooner, so that a write does not meet a connection that is just being closed. Node
 * looks at that header only where a time is set here. Requests under way are not concerned.
 */
const IDLE_TIMEOUT_MS = 60_000;
