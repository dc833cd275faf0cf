import { HealthCheck } from '@nestjs/terminus';

/**
 * Terminus' decorator without what it documents by itself: it would load `@nestjs/swagger` at every
 * start on a machine that has it, which takes longer than all the rest of the start.
 */
export const PlainHealthCheck = (): MethodDecorator =>
  HealthCheck({ noCache: true, swaggerDocumentation: false }) as MethodDecorator;
