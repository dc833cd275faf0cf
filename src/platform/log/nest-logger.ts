import { types } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

/** Writes Nest's messages as JSON lines. Those about modules and routes appear only at debug level. */
export class NestLogger implements LoggerService {
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  log(message: unknown, context?: unknown): void {
    this.logger.debug({ context }, String(message));
  }

  warn(message: unknown, context?: unknown): void {
    this.logger.warn({ context }, String(message));
  }

  error(message: unknown, stackOrContext?: unknown): void {
    if (types.isNativeError(message)) this.logger.error({ err: message }, 'Nest reports an error');
    else this.logger.error({ detail: stackOrContext }, String(message));
  }
}
