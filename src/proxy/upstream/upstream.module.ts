import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.ts';
import { LOGGER } from '../../platform/log/create-logger.ts';
import { NameResolver } from '../../platform/names/name-resolver.ts';
import { UpstreamCredentials } from './upstream-credentials.ts';
import { Upstreams } from './upstreams.ts';

/** Provides the upstreams to everything that sends requests to them. */
@Module({
  providers: [
    {
      provide: UpstreamCredentials,
      inject: [CONFIG, LOGGER],
      useFactory: (config: GatewayConfig, logger: Logger) =>
        UpstreamCredentials.open(config, logger),
    },
    {
      provide: Upstreams,
      inject: [CONFIG, NameResolver, UpstreamCredentials],
      useFactory: (config: GatewayConfig, names: NameResolver, credentials: UpstreamCredentials) =>
        new Upstreams(config, names, credentials),
    },
  ],
  exports: [Upstreams, UpstreamCredentials],
})
export class UpstreamModule {}
