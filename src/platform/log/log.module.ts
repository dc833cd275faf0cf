import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';

/** The injection token of the pino logger. */
export const LOGGER = Symbol('logger');

/** Provides the logger of the process. */
@Global()
@Module({})
export class LogModule {
  static with(logger: Logger): DynamicModule {
    return {
      module: LogModule,
      providers: [{ provide: LOGGER, useValue: logger }],
      exports: [LOGGER],
    };
  }
}
