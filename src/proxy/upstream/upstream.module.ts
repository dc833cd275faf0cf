import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.ts';
import { LOGGER } from '../../platform/log/log.module.ts';
import { NameResolver } from '../../platform/names/name-resolver.ts';
import { RotatingCredentials } from './upstream-credentials.ts';
import { Upstreams } from './upstreams.ts';

/** Provides the upstreams to everything that sends requests to them. */
@Module({
  providers: [
    {
      provide: RotatingCredentials,
      inject: [CONFIG, LOGGER],
      useFactory: (config: GatewayConfig, logger: Logger) =>
        RotatingCredentials.open(config, logger),
    },
    {
      provide: Upstreams,
      inject: [CONFIG, NameResolver, RotatingCredentials],
      useFactory: (config: GatewayConfig, names: NameResolver, credentials: RotatingCredentials) =>
        new Upstreams(config, names, credentials),
    },
  ],
  exports: [Upstreams, RotatingCredentials],
})
export class UpstreamModule {}
