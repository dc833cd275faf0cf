import { Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { CONFIG_NAMESPACE, type GatewayConfig } from './gateway-config.ts';

/** Provides the validated settings through `@nestjs/config`. */
@Module({})
export class GatewayConfigModule {
  static with(config: GatewayConfig): Promise<DynamicModule> {
    return ConfigModule.forRoot({
      isGlobal: true,
      ignoreEnvFile: true,
      skipProcessEnv: true,
      load: [registerAs(CONFIG_NAMESPACE, () => config)],
    });
  }
}
