import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import type { Logger } from 'pino';
import { AccessGuard } from './auth/access.guard.ts';
import { AuthModule } from './auth/auth.module.ts';
import { CommandsModule } from './commands/commands.module.ts';
import type { GatewayConfig } from './platform/config/gateway-config.ts';
import { GatewayConfigModule } from './platform/config/gateway-config.module.ts';
import { ProblemFilter } from './platform/server/problem.filter.ts';
import { GatewayParts } from './health/gateway-parts.ts';
import { HealthModule } from './health/health.module.ts';
import { LimitsModule } from './platform/limits/limits.module.ts';
import { LOGGER } from './platform/log/create-logger.ts';
import { NameResolver } from './platform/names/name-resolver.ts';
import { RegistryModule } from './registry/registry.module.ts';
import { BodyCapGuard } from './platform/limits/body-cap.guard.ts';
import { RateLimit } from './platform/limits/rate-limit.ts';
import { RateLimitGuard } from './auth/rate-limit.guard.ts';
import type { GatewayAdapter } from './platform/server/gateway.adapter.ts';
import type { GatewayState } from './platform/server/gateway-state.ts';
import { ServerModule } from './platform/server/server.module.ts';
import { ShapesModule } from './shapes/shapes.module.ts';
import { StreamsModule } from './streams/streams.module.ts';
import { ReadShareMetrics } from './platform/telemetry/read-share-metrics.ts';
import type { Telemetry } from './platform/telemetry/telemetry.ts';
import { UpstreamCalls } from './platform/telemetry/upstream-calls.ts';
import { UpstreamModule } from './proxy/upstream/upstream.module.ts';

/** The modules of the public port's application. */
export interface AppParts {
  config: GatewayConfig;
  logger: Logger;
  names: NameResolver;
  telemetry: Telemetry;
  adapter: GatewayAdapter;
  state: GatewayState;
}

/** The public port's application. */
@Module({})
export class AppModule {
  static with({ config, logger, names, telemetry, adapter, state }: AppParts): DynamicModule {
    return {
      module: AppModule,
      // Every module may inject what it exports.
      global: true,
      imports: [
        GatewayConfigModule.with(config),
        ServerModule.with(adapter, state),
        LimitsModule,
        AuthModule,
        CommandsModule,
        StreamsModule,
        ShapesModule,
        RegistryModule,
        HealthModule,
        UpstreamModule,
      ],
      providers: [
        { provide: LOGGER, useValue: logger },
        { provide: NameResolver, useValue: names },
        { provide: UpstreamCalls, useValue: telemetry.upstreamCalls },
        { provide: ReadShareMetrics, useValue: telemetry.sharedReads },
        GatewayParts,
        { provide: APP_GUARD, useExisting: AccessGuard },
        BodyCapGuard,
        { provide: APP_GUARD, useExisting: BodyCapGuard },
        // It comes after the access guard, so only valid credentials are counted.
        ...rateLimit(config),
        { provide: APP_FILTER, useExisting: ProblemFilter },
      ],
      exports: [LOGGER, NameResolver, UpstreamCalls, ReadShareMetrics],
    };
  }
}

function rateLimit({ limits: { requestsPerSecond } }: GatewayConfig): Provider[] {
  if (requestsPerSecond === 0) return [];
  return [{ provide: APP_GUARD, useValue: new RateLimitGuard(new RateLimit(requestsPerSecond)) }];
}
