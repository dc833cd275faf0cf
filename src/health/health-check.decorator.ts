import { HealthCheck } from '@nestjs/terminus';

/**
 * Terminus' decorator without its API documentation, which would load `@nestjs/swagger` at every start if it is
 * installed. That takes longer than the rest of the start.
 */
export const PlainHealthCheck = (): MethodDecorator =>
  HealthCheck({ noCache: true, swaggerDocumentation: false }) as MethodDecorator;
