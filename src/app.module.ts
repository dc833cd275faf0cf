import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import type { Logger } from 'pino';
import { AccessGuard } from './auth/access.guard.ts';
import { AuthModule } from './auth/auth.module.ts';
import { CommandsModule } from './commands/commands.module.ts';
import type { GatewayConfig } from './config/gateway-config.ts';
import { GatewayConfigModule } from './config/gateway-config.module.ts';
import { ProblemFilter } from './server/problem.filter.ts';
import { HealthModule } from './health/health.module.ts';
import { LimitsModule } from './limits/limits.module.ts';
import { LOGGER, LogModule } from './log/log.module.ts';
import { RegistryModule } from './registry/registry.module.ts';
import { BodyCapGuard } from './limits/body-cap.guard.ts';
import { ShapesModule } from './shapes/shapes.module.ts';
import { StreamsModule } from './streams/streams.module.ts';
import { TelemetryModule } from './telemetry/telemetry.module.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** The public port's application. */
@Module({})
export class AppModule {
  static with(config: GatewayConfig, logger: Logger, telemetry: Telemetry): DynamicModule {
    return {
      module: AppModule,
      imports: [
        GatewayConfigModule.with(config),
        LogModule.with(logger),
        TelemetryModule.with(telemetry),
        LimitsModule,
        AuthModule,
        CommandsModule,
        StreamsModule,
        ShapesModule,
        RegistryModule,
        HealthModule,
      ],
      providers: [
        { provide: APP_GUARD, useExisting: AccessGuard },
        BodyCapGuard,
        { provide: APP_GUARD, useExisting: BodyCapGuard },
        {
          provide: ProblemFilter,
          inject: [LOGGER],
          useFactory: (logger: Logger) => new ProblemFilter(logger),
        },
        { provide: APP_FILTER, useExisting: ProblemFilter },
      ],
    };
  }
}
