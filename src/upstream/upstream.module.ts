import { Module } from '@nestjs/common';
import { getConfigToken } from '@nestjs/config';
import type { Logger } from 'pino';
import { CONFIG_NAMESPACE, type GatewayConfig } from '../config/gateway-config.ts';
import { LOGGER } from '../log/log.module.ts';
import { NameResolver } from '../names/name-resolver.ts';
import { RotatingCredentials } from './upstream-credentials.ts';
import { Upstreams } from './upstreams.ts';

const CONFIG = getConfigToken(CONFIG_NAMESPACE);

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
  exports: [Upstreams],
})
export class UpstreamModule {}
