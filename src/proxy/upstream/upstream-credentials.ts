import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import { InjectConfig, type GatewayConfig } from '../../platform/config/gateway-config.ts';
import { SecretList } from '../../platform/config/secret-list.ts';
import { LOGGER } from '../../platform/log/create-logger.ts';

/**
 * The credential of each upstream: a list that has one entry at most. Their files are read again while the gateway
 * runs.
 */
@Injectable()
export class UpstreamCredentials implements OnModuleDestroy {
  readonly runtimeIngress: SecretList<string>;
  readonly runtimeAdmin: SecretList<string>;
  readonly history: SecretList<string>;
  readonly sync: SecretList<string>;

  constructor(
    @InjectConfig() { runtime, history, sync }: GatewayConfig,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.runtimeIngress = new SecretList(runtime.ingressToken, logger);
    this.runtimeAdmin = new SecretList(runtime.adminToken, logger);
    this.history = new SecretList(history.token, logger);
    this.sync = new SecretList(sync.secret, logger);
  }

  get lists(): readonly SecretList<string>[] {
    return [this.runtimeIngress, this.runtimeAdmin, this.history, this.sync];
  }

  onModuleDestroy(): void {
    for (const list of this.lists) list.onModuleDestroy();
  }
}
