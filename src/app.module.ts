import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import type { Logger } from 'pino';
import { AccessGuard } from './auth/access.guard.ts';
import { RateLimitGuard } from './auth/rate-limit.guard.ts';
import { AuthModule } from './auth/auth.module.ts';
import { CommandsModule } from './commands/commands.module.ts';
import { CONFIG_NAMESPACE, type GatewayConfig } from './contract/gateway-config.ts';
import { ProblemFilter } from './platform/server/problem.filter.ts';
import { HealthModule } from './health/health.module.ts';
import { LOGGER } from './platform/log/create-logger.ts';
import { NameResolver } from './platform/names/name-resolver.ts';
import { RegistryModule } from './registry/registry.module.ts';
import type { GatewayAdapter } from './platform/server/gateway.adapter.ts';
import type { GatewayState } from './platform/server/gateway-state.ts';
import { SecretFiles } from './platform/config/secret-files.ts';
import { ServerModule } from './platform/server/server.module.ts';
import { ShapesModule } from './shapes/shapes.module.ts';
import { StreamsModule } from './streams/streams.module.ts';
import { Telemetry } from './platform/telemetry/telemetry.ts';

/** The modules of the public port's application. */
export interface AppParts {
  config: GatewayConfig;
  logger: Logger;
  names: NameResolver;
  telemetry: Telemetry;
  secretFiles: SecretFiles;
  adapter: GatewayAdapter;
  state: GatewayState;
}

/** The public port's application. */
@Module({})
export class AppModule {
  static with(parts: AppParts): DynamicModule {
    const { config, logger, names, telemetry, secretFiles, adapter, state } = parts;
    const { limits, timeouts } = config;
    return {
      module: AppModule,
      // Every module may inject what it exports.
      global: true,
      imports: [
        // The settings are checked already.
        ConfigModule.forRoot({
          isGlobal: true,
          ignoreEnvFile: true,
          skipProcessEnv: true,
          load: [registerAs(CONFIG_NAMESPACE, () => config)],
        }),
        ServerModule.with({ adapter, state, logger, telemetry, ...limits, ...timeouts }),
        AuthModule,
        CommandsModule,
        StreamsModule,
        ShapesModule,
        RegistryModule,
        HealthModule,
      ],
      providers: [
        { provide: LOGGER, useValue: logger },
        { provide: NameResolver, useValue: names },
        { provide: Telemetry, useValue: telemetry },
        { provide: SecretFiles, useValue: secretFiles },
        { provide: APP_GUARD, useExisting: AccessGuard },
        // It comes after the access guard, so only valid credentials are counted.
        ...rateLimit(config),
        { provide: APP_FILTER, useExisting: ProblemFilter },
      ],
      exports: [LOGGER, NameResolver, Telemetry, SecretFiles],
    };
  }
}

function rateLimit({ limits: { requestsPerSecond } }: GatewayConfig): Provider[] {
  if (requestsPerSecond === 0) return [];
  return [{ provide: APP_GUARD, useValue: new RateLimitGuard(requestsPerSecond) }];
}
