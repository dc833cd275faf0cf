import http from 'node:http';
import https from 'node:https';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectConfig, type GatewayConfig } from '../../platform/config/gateway-config.ts';
import type { SecretList } from '../../platform/config/secret-list.ts';
import type { ProxiedPrefix } from '../../platform/http/routes.ts';
import { NameResolver } from '../../platform/names/name-resolver.ts';
import type { UpstreamName } from '../../platform/telemetry/upstream-calls.ts';
import { KEPT_BY_AGENT } from './connections/idle-time.ts';
import { ReadPool } from './connections/read-pool.ts';
import { connectorTo } from './connections/upstream-socket.ts';
import { durableStreams } from './protocols/durable-streams.ts';
import { electric } from './protocols/electric.ts';
import { restateAdmin, restateIngress } from './protocols/restate.ts';
import type { ReadProtocol, UpstreamProtocol } from './protocols/upstream-protocol.ts';
import { UpstreamCredentials } from './upstream-credentials.ts';

/** A server behind the gateway. Its origin, base path and credential come only from the settings. */
export interface Upstream {
  name: UpstreamName;
  base: URL;
  /** The path of the base URL without a trailing slash, or empty. */
  basePath: string;
  /** The current value of `Authorization` for it, if it has one. */
  readonly authorization: string | undefined;
  /** The setting of its credential, for the log. */
  credentialSetting: string;
  protocol: UpstreamProtocol;
}

/** An upstream with a public prefix. */
interface Proxied extends Upstream {
  /** The public prefix that stands for the upstream's base URL. */
  prefix: ProxiedPrefix;
  /** The connections of all requests except shared reads. */
  agent: http.Agent;
  /** Opens a connection for each request. */
  newConnections: http.Agent;
  /** The timeout in milliseconds for response headers, except those of a live read. */
  timeoutMs: number;
  /** Whether browsers and caches may read it, and several readers may share one read. */
  isRead: boolean;
}

/** An upstream whose reads may be shared and may wait for new data. */
export interface ReadUpstream extends Proxied {
  isRead: true;
  protocol: ReadProtocol;
  /** The connections of reads. */
  pool: ReadPool;
  /** The timeout in milliseconds for the response headers of a live read. */
  liveTimeoutMs: number;
}

export type ProxiedUpstream = ReadUpstream | (Proxied & { isRead: false });

/** The upstreams, each with its own kept connections. */
@Injectable()
export class Upstreams implements OnApplicationShutdown {
  readonly history: ReadUpstream;
  readonly sync: ReadUpstream;
  readonly runtimeAdmin: ProxiedUpstream;
  readonly runtimeIngress: Upstream;
  private readonly syncSecrets: SecretList<string>;

  constructor(
    @InjectConfig() config: GatewayConfig,
    readonly names: NameResolver,
    credentials: UpstreamCredentials,
  ) {
    const { history, sync, runtime, timeouts } = config;
    const { lookup } = names;
    const readable = (url: string) => ({
      ...location(url),
      agent: agentFor(url, { ...KEPT_BY_AGENT, lookup }),
      newConnections: agentFor(url, { lookup }),
      timeoutMs: timeouts.responseMs,
      isRead: true as const,
      pool: new ReadPool(
        new URL(url),
        { connectMs: timeouts.connectMs, stallMs: timeouts.upstreamStallMs },
        connectorTo(new URL(url), lookup),
      ),
      liveTimeoutMs: timeouts.liveMs,
    });
    this.history = {
      name: 'history',
      protocol: durableStreams,
      prefix: '/streams',
      get authorization() {
        return bearer(credentials.history);
      },
      credentialSetting: credentials.history.name,
      ...readable(history.url),
    };
    this.sync = {
      name: 'sync',
      protocol: electric,
      prefix: '/shapes',
      // Its credential is a parameter of the query.
      authorization: undefined,
      credentialSetting: credentials.sync.name,
      ...readable(sync.url),
    };
    this.syncSecrets = credentials.sync;
    const adminConnections = agentFor(runtime.adminUrl, { lookup });
    this.runtimeAdmin = {
      name: 'runtime-admin',
      protocol: restateAdmin,
      prefix: '/registry',
      get authorization() {
        return bearer(credentials.runtimeAdmin);
      },
      credentialSetting: credentials.runtimeAdmin.name,
      ...location(runtime.adminUrl),
      // Each request gets a connection of its own. If Restate refuses a request before it has read the body, it closes the
      // connection without announcing it. The next request would meet the closed connection, and one with a body cannot be
      // sent again. Registrations are rare enough for this.
      agent: adminConnections,
      newConnections: adminConnections,
      timeoutMs: timeouts.responseMs,
      isRead: false,
    };
    this.runtimeIngress = {
      name: 'runtime-ingress',
      protocol: restateIngress,
      get authorization() {
        return bearer(credentials.runtimeIngress);
      },
      credentialSetting: credentials.runtimeIngress.name,
      ...location(runtime.ingressUrl),
    };
  }

  /** The current secret of the sync engine, if it has one. */
  get syncSecret(): string | undefined {
    return this.syncSecrets.entries[0];
  }

  /** The connections close after the listener, because open requests must still be answered. */
  onApplicationShutdown(): void {
    for (const { agent, newConnections } of [this.history, this.sync, this.runtimeAdmin]) {
      agent.destroy();
      newConnections.destroy();
    }
    for (const { pool } of [this.history, this.sync]) pool.close();
  }
}

function location(url: string): Pick<Upstream, 'base' | 'basePath'> {
  const base = new URL(url);
  return { base, basePath: base.pathname.replace(/\/$/, '') };
}

function bearer({ entries: [credential] }: SecretList<string>): string | undefined {
  return credential && `Bearer ${credential}`;
}

function agentFor(url: string, options: http.AgentOptions): http.Agent {
  const isTls = new URL(url).protocol === 'https:';
  return isTls ? new https.Agent(options) : new http.Agent(options);
}
