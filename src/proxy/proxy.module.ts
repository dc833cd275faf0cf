import { Module } from '@nestjs/common';
import { getConfigToken } from '@nestjs/config';
import { CONFIG_NAMESPACE, type GatewayConfig } from '../config/gateway-config.ts';
import { HttpProxyEngine } from './http-proxy-engine.ts';
import { ProxyService } from './proxy.service.ts';
import { ReadExpiry } from './read-expiry.ts';
import { ReadSender } from './reads/read-sender.ts';
import { ReadService } from './reads/read.service.ts';
import { ReadSharing } from './reads/read-sharing.ts';
import { Upstreams } from './upstreams.ts';

@Module({
  providers: [
    ProxyService,
    HttpProxyEngine,
    ReadService,
    ReadSharing,
    ReadSender,
    ReadExpiry,
    {
      provide: Upstreams,
      inject: [getConfigToken(CONFIG_NAMESPACE)],
      useFactory: (config: GatewayConfig) => new Upstreams(config),
    },
  ],
  exports: [ProxyService, Upstreams],
})
export class ProxyModule {}
