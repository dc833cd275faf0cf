import type { OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import type { GatewayConfig, SecretSource } from '../../platform/config/gateway-config.ts';
import { SecretList } from '../../platform/config/secret-list.ts';
import { credentialParser, type CredentialVariable } from '../../platform/config/secret-source.ts';

/**
 * The credential of each upstream: a list that is named after its setting and has one entry at most. Their files are read
 * again while the gateway runs.
 */
export class UpstreamCredentials implements OnModuleDestroy {
  private constructor(
    readonly runtimeIngress: SecretList<string>,
    readonly runtimeAdmin: SecretList<string>,
    readonly history: SecretList<string>,
    readonly sync: SecretList<string>,
  ) {}

  static async open(
    { runtime, history, sync }: GatewayConfig,
    logger: Logger,
  ): Promise<UpstreamCredentials> {
    const open = (name: CredentialVariable, source: SecretSource<string>) => {
      const setting = source.file === undefined ? name : `${name}_FILE`;
      return SecretList.open(setting, source, credentialParser(name), logger);
    };
    return new UpstreamCredentials(
      await open('GATEWAY_RUNTIME_INGRESS_TOKEN', runtime.ingressToken),
      await open('GATEWAY_RUNTIME_ADMIN_TOKEN', runtime.adminToken),
      await open('GATEWAY_HISTORY_TOKEN', history.token),
      await open('GATEWAY_SYNC_SECRET', sync.secret),
    );
  }

  get lists(): readonly SecretList<string>[] {
    return [this.runtimeIngress, this.runtimeAdmin, this.history, this.sync];
  }

  onModuleDestroy(): void {
    for (const list of this.lists) list.onModuleDestroy();
  }
}
