import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { InjectConfig, type GatewayConfig } from '../../contract/gateway-config.ts';
import { SecretFiles } from '../../platform/config/secret-files.ts';
import type { SecretList } from '../../platform/config/secret-list.ts';
import { LOGGER } from '../../platform/log/create-logger.ts';
import { NameResolver } from '../../platform/names/name-resolver.ts';
import type { AttemptObserver } from './attempt.ts';
import { durableStreams } from './protocols/durable-streams.ts';
import { electric } from './protocols/electric.ts';
import { restateAdmin, restateIngress } from './protocols/restate.ts';
import { Upstream, type ReadUpstream } from './upstream.ts';

/** The upstreams, each with its own connections, and its credential, whose file is read again while the gateway runs. */
@Injectable()
export class Upstreams implements OnApplicationShutdown {
  readonly history: ReadUpstream;
  readonly sync: ReadUpstream;
  readonly runtimeAdmin: Upstream;
  readonly runtimeIngress: Upstream;
  private readonly syncSecrets: SecretList<string>;
  private readonly observers: AttemptObserver[] = [];

  constructor(
    @InjectConfig() { history, sync, runtime, timeouts }: GatewayConfig,
    names: NameResolver,
    files: SecretFiles,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.syncSecrets = files.add(sync.secret);
    const { observers } = this;
    const common = { names, timeouts, observers, logger, isBearer: true, keepsConnections: true };
    this.history = new Upstream({
      ...common,
      name: 'history',
      url: history.url,
      protocol: durableStreams,
      prefix: '/streams',
      credential: files.add(history.token),
    });
    this.sync = new Upstream({
      ...common,
      name: 'sync',
      url: sync.url,
      protocol: electric,
      prefix: '/shapes',
      credential: this.syncSecrets,
      // It is a parameter of the query.
      isBearer: false,
    });
    this.runtimeAdmin = new Upstream({
      ...common,
      name: 'runtime-admin',
      url: runtime.adminUrl,
      protocol: restateAdmin,
      prefix: '/registry',
      credential: files.add(runtime.adminToken),
      // If Restate refuses a request before it has read the body, it closes the connection without announcing it. The next
      // request would meet the closed connection, and one with a body cannot be sent again. Registrations are rare enough.
      keepsConnections: false,
    });
    this.runtimeIngress = new Upstream({
      ...common,
      name: 'runtime-ingress',
      url: runtime.ingressUrl,
      protocol: restateIngress,
      credential: files.add(runtime.ingressToken),
    });
  }

  /** It observes every request to every upstream. Call it before the gateway listens. */
  observe(observer: AttemptObserver): void {
    this.observers.push(observer);
  }

  /** The upstreams, for what is done with each of them. */
  get all(): readonly Upstream[] {
    return [this.runtimeIngress, this.runtimeAdmin, this.history, this.sync];
  }

  /** The current secret of the sync engine, if it has one. */
  get syncSecret(): string | undefined {
    return this.syncSecrets.entries[0];
  }

  /** The connections close after the listener, because open requests must still be answered. */
  onApplicationShutdown(): void {
    for (const upstream of this.all) upstream.close();
  }
}
