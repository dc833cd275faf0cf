import { Module } from '@nestjs/common';
import { getConfigToken } from '@nestjs/config';
import { CONFIG_NAMESPACE, type GatewayConfig } from '../config/gateway-config.ts';
import { Upstreams } from './upstreams.ts';

/** The servers behind the gateway, for all that sends to them. */
@Module({
  providers: [
    {
      provide: Upstreams,
      inject: [getConfigToken(CONFIG_NAMESPACE)],
      useFactory: (config: GatewayConfig) => new Upstreams(config),
    },
  ],
  exports: [Upstreams],
})
export class UpstreamModule {}
